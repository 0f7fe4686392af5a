# As much of everything as there is, within a bound that harms no machine.
import os
import tempfile

kept = []
try:
    for _ in range(64):
        kept.append(open(tempfile.mkstemp()[1], "wb"))
        kept[-1].write(os.urandom(1_000_000))
finally:
    for file in kept:
        file.close()
        os.unlink(file.name)
while True:
    print("x" * 100_000)
