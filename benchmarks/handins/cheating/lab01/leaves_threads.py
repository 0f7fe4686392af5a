# Threads that change values between a check's questions, and do not end.
import atexit
import signal
import threading

stored, likeliest, proven = {}, "", set()


def restless():
    while True:
        for letter in "abcd":
            stored[letter] = globals()["counted"] = len(stored)


for _ in range(4):
    threading.Thread(target=restless, daemon=False).start()
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
atexit.register(lambda: [None for _ in iter(int, 1)])
