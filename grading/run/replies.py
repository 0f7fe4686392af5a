"""The reply of a kernel that may hang, die, or write what makes no sense."""

from __future__ import annotations

import asyncio
from typing import Any

from grading.run.kernel import StudentKernel

GRACE = 3.0  # seconds for a cell to heed the interrupt, and for its last output to arrive
NONSENSE = (TypeError, KeyError, ValueError, AttributeError)
"""What jupyter_client raises over a message that is none."""


class Replies:
    """Takes the replies of one kernel from its shell channel."""

    def __init__(self, kernel: StudentKernel) -> None:
        self.is_garbled = False
        """Whether the kernel wrote nonsense and was ended for it."""
        self._kernel = kernel

    async def to(self, message: str, limit: float) -> tuple[dict[str, Any] | None, bool]:
        """The reply to a request, and whether it had to be interrupted after `limit` seconds.

        None: the kernel is gone, either by itself or because it did not heed the interrupt.
        """
        reply = asyncio.ensure_future(self._next(message))
        death = asyncio.ensure_future(self._death())
        both: set[asyncio.Future[Any]] = {reply, death}
        is_late = False
        try:
            done, _ = await asyncio.wait(both, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                is_late = True
                await self._kernel.manager.interrupt_kernel()
                done, _ = await asyncio.wait(
                    both, timeout=GRACE, return_when=asyncio.FIRST_COMPLETED
                )
            if not done:
                self._kernel.kill()
            return (reply.result() if reply in done else None), is_late
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def _next(self, message: str) -> dict[str, Any]:
        while True:
            try:
                reply = await self._kernel.client.shell_channel.get_msg(timeout=None)
            except NONSENSE:
                # a student's code broke what writes them; nothing can be asked of it any more
                self.is_garbled = True
                self._kernel.kill()
                continue
            if reply["parent_header"].get("msg_id") == message:
                return reply

    async def _death(self) -> None:
        while self._kernel.exit_code is None:
            await asyncio.sleep(0.05)
