# Children in sessions of their own, without the variables by which they could be known.
import os
import subprocess
import sys

code = f"import time, signal; signal.signal(15, signal.SIG_IGN); {STRAY} = time.sleep(900)"
for _ in range(3):
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True, env={})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", code], {})
    os._exit(0)
