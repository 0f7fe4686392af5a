from pathlib import Path

course = Path(COURSE)
for file in course.rglob("*"):
    if file.name in {"class.json", "class.csv", "class.toml", "secret", "students.csv"}:
        file.write_text("{}")
(course / "class.toml").write_text("late = 0\n")
