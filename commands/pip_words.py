"""What pip says where it fails, and what that means to a person.

Standard library alone: it is read before anything is installed.
"""

NO_NETWORK = "No network: the registry of Python packages cannot be reached."
CONNECT = (
    "Connect to the internet and call ./course again. Behind a proxy: "
    "export HTTPS_PROXY=http://HOST:PORT first."
)
SIGNS = {
    "No space left": (
        "The disk is full.",
        "Make room (the packages take 1.5 GB), then call ./course again.",
    ),
    "externally-managed": (
        "This Python refuses to install packages.",
        "Use another Python, or conda: conda env create -f environment.yml",
    ),
    "Missing dependencies for SOCKS": (
        "A variable names a SOCKS proxy, which pip cannot use.",
        "Call ./course without it: env -u ALL_PROXY -u all_proxy ./course setup",
    ),
    "Please check proxy URL": (
        "A variable names a proxy in a form that pip cannot use.",
        "Write it as http://HOST:PORT, in HTTPS_PROXY and ALL_PROXY, then call ./course again.",
    ),
    "NewConnectionError": (NO_NETWORK, CONNECT),
    "Temporary failure in name resolution": (NO_NETWORK, CONNECT),
    "Network is unreachable": (NO_NETWORK, CONNECT),
    "ProxyError": ("The proxy does not let pip through to the package registry.", CONNECT),
    "Read timed out": ("The package registry did not answer in time.", CONNECT),
    "CERTIFICATE_VERIFY_FAILED": (
        "The package registry's certificate is not trusted here.",
        "Let PIP_CERT name a file with the authority of your network, then call ./course again.",
    ),
    "from versions: none": ("The registry tells pip nothing of a package of the course.", CONNECT),
    "No matching distribution": (
        "A package has no version for this Python or this machine.",
        "Use Python 3.11 or 3.12, or conda: conda env create -f environment.yml",
    ),
}


def understood(said: str) -> tuple[str, str] | None:
    """What happened and what mends it, where what pip or Python said has a known sign."""
    return next((known for sign, known in SIGNS.items() if sign in said), None)
