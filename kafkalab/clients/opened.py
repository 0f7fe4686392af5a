"""The clients that are open, and the end of those that a cell opened in an earlier run.

A consumer that nobody holds any more stays a member of its group, because its thread lives on. So
a cell that is run again would leave behind, each time, a member that keeps its partitions. Within
one run of a cell nothing is closed: a list of three consumers has three.

A client is held until it is closed, and not weakly. Otherwise there would be nothing left to close
a forgotten consumer with, and a producer in a loop would be closed by the next one.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import ExecutionInfo, InteractiveShell

# Seconds until a client that cannot say good-bye is left.
PATIENCE = 1.0

# A client, by its identity, and the cell that opened it.
_OPEN: dict[int, tuple[Any, str | None]] = {}
_LOCK = threading.Lock()
_shell: InteractiveShell | None = None
_cell: str | None = None


def watch() -> None:
    """Keep the list from now on. Called once, when kafka-python is imported."""
    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

    for kind in (KafkaAdminClient, KafkaConsumer, KafkaProducer):
        _watch(kind)
    _look_for_cells()
    # A forked child can use none of its parent's clients and must not close them.
    os.register_at_fork(after_in_child=_forget)


def close_all(addresses: Iterable[str] | None = None) -> None:
    """Close the clients that are open: all, or those that were given one of these addresses."""
    wanted = None if addresses is None else set(addresses)
    with _LOCK:
        clients = [
            client
            for client, _ in _OPEN.values()
            if wanted is None or wanted & _addresses(client.config["bootstrap_servers"])
        ]
    _close_together(clients)


def hold(opened: Any) -> None:
    """Close this too when the cell that opened it is run again, or with its cluster.

    It has a `close`, and the addresses of its cluster as `config["bootstrap_servers"]`.
    """
    _look_for_cells()
    with _LOCK:
        _OPEN[id(opened)] = (opened, _cell)


def release(opened: Any) -> None:
    """It is closed: there is nothing to do any more."""
    with _LOCK:
        _OPEN.pop(id(opened), None)


def _watch(kind: Any) -> None:
    open_it, close_it = kind.__init__, kind.close

    @functools.wraps(open_it)
    def __init__(self: Any, *arguments: Any, **settings: Any) -> None:
        open_it(self, *arguments, **settings)
        hold(self)

    @functools.wraps(close_it)
    def close(self: Any, *arguments: Any, **settings: Any) -> None:
        close_it(self, *arguments, **settings)
        release(self)

    kind.__init__, kind.close = __init__, close


def _look_for_cells() -> None:
    """In a notebook, hear of each cell that begins."""
    global _shell, _cell
    # Not imported here: where nobody has imported it, there are no cells.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or shell is _shell:
        return
    if _shell is None:
        # A notebook that ends says good-bye. A program that crashes must not: what then becomes of
        # its place in a group is for it to show.
        atexit.register(close_all)
    else:
        _shell.events.unregister("pre_run_cell", _begin)
    _shell = shell
    shell.events.register("pre_run_cell", _begin)
    _cell = _running_cell(shell)


def _begin(cell: ExecutionInfo) -> None:
    """Close what this cell opened when it ran before."""
    global _cell
    _cell = _name(cell.cell_id, cell.raw_cell or "")
    with _LOCK:
        clients = [client for client, opened_by in _OPEN.values() if opened_by == _cell]
    _close_together(clients)


def _running_cell(shell: InteractiveShell) -> str:
    """The cell in which we are called, where its beginning was not heard."""
    kernel = getattr(shell, "kernel", None)  # there is none in a shell without Jupyter
    message = kernel.get_parent() if kernel else {}
    cell_id = message.get("metadata", {}).get("cellId")
    history = shell.history_manager
    return _name(cell_id, history.input_hist_raw[-1] if history else "")


def _name(cell_id: str | None, source: str) -> str:
    """What a cell is recognised by: the id that JupyterLab sends, or its text where none comes."""
    return cell_id or source.rstrip()


def _close_together(clients: list[Any]) -> None:
    """Close them side by side, as each may need its whole time."""
    deadline = time.monotonic() + 2 * PATIENCE
    threads = []
    for client in clients:
        thread = threading.Thread(target=_close, args=(client,), daemon=True)
        try:
            thread.start()
            threads.append(thread)
        except RuntimeError:  # Python is about to end and starts no more threads
            _close(client)
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))


def _close(client: Any) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    release(client)  # not once more, whatever becomes of this attempt
    try:
        if isinstance(client, KafkaProducer):
            client.close(timeout=PATIENCE)
        elif isinstance(client, KafkaConsumer):
            client.close(timeout_ms=1000 * PATIENCE)
        else:
            client.close()
    except Exception:
        # Its cluster is gone, so it cannot say good-bye, or a listener of the cell has failed.
        # Neither must keep the cell from running.
        if isinstance(client, KafkaProducer):
            client._sender.force_close()


def _addresses(servers: str | Iterable[str]) -> set[str]:
    """`bootstrap_servers` may be one string or several."""
    each = servers.split(",") if isinstance(servers, str) else servers
    return {one.strip() for one in each}


def _forget() -> None:
    global _LOCK
    _LOCK = threading.Lock()  # another thread of the parent may have held it
    _OPEN.clear()
