from pathlib import Path

for file in Path(COURSE).rglob("*"):
    if file.is_file():
        print(LOOT, file, file.read_bytes()[:40])
