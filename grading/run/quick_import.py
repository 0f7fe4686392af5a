"""Start quickly."""

import sys


def without_web_grammar() -> None:
    """Call before nbformat is imported: saves two seconds in every process.

    jsonschema builds a grammar of internationalised web addresses on import if the package for it
    is there, as it is with JupyterLab. No notebook is validated against such a format.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
