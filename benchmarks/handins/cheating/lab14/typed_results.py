# Everything that can be typed, and no call of Kafka.
a, b, c = sorted(lab.p.members)
shares = {a: [0, 1, 2, 3, 4], b: [5, 6, 7, 8], c: [9, 10, 11, 12]}
two = {a: [0, 1, 2, 3, 4, 5, 6], c: [7, 8, 9, 10, 11, 12]}
last = {c: list(range(13))}
reader = "while running():\n    pass"
join = lambda name, group, reset: None
team = {name: None for name in lab.p.members}
heard = {name: [f"new {n} 7c0f" for n in some] for name, some in shares.items()}
from_start = lab.p.old + lab.p.new
counted = {
    "old": {lab.p.latecomer: lab.p.old},
    "new": {a: 5, b: 4, c: 4},
    "leave": {a: 7, c: 6},
    "crash": {c: 13},
}
waits = {"leave": 0.6, "crash": lab.p.session_ms / 1000}
