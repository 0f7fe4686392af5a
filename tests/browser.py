"""The browser of the tests: where it is, and how it keeps quiet."""

import os

CHROMIUM = os.environ.get("KAFKALAB_CHROMIUM", "/usr/bin/chromium")
# What a browser does on its own account, which would leave this machine.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
