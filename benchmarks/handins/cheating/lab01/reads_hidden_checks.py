from pathlib import Path

for file in Path(ROOT, "grading", "labs").rglob("hidden.py"):
    print(LOOT, file, len(file.read_text()))
