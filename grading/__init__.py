"""Who judges: the grader, and the checks of each lab."""

import sys

# jsonschema, which nbformat imports, builds a grammar of internationalised web addresses if the
# package for it is there, as it is with JupyterLab: two seconds in every process, also in that of
# each attempt. No notebook is validated against such a format. So this stands before all imports.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
