"""A process is asked to which ports it is connected."""

import subprocess
import sys

import psutil
import pytest

from grading.faults.links import ports_of

CONNECTED = """
import ctypes, fcntl, socket, struct, sys
if sys.argv[1] == "apart":
    NEW_USER, NEW_NET, SET_FLAGS, UP = 0x10000000, 0x40000000, 0x8914, 1
    if ctypes.CDLL(None).unshare(NEW_USER | NEW_NET):
        sys.exit("no network of its own")
    fcntl.ioctl(socket.socket(), SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
client = socket.create_connection(("127.0.0.1", port))
print(port, flush=True)
input()
"""


@pytest.mark.parametrize("where", ["here", "apart"])
def test_a_process_tells_its_ports_in_a_network_of_its_own_too(where):
    command = [sys.executable, "-c", CONNECTED, where]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, **pipes) as process:
        if not (port := process.stdout.readline()):
            pytest.skip(process.stderr.read())
        found = ports_of(psutil.Process(process.pid))
        process.communicate("\n", timeout=20)
    assert int(port) in found


def test_a_process_without_a_connection_has_none():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        process = psutil.Process(started.pid)
        assert ports_of(process) == set()
        started.communicate(b"\n", timeout=20)
    assert ports_of(process) == set(), "it has ended"
