"""Who judges: the grader, and the checks of each lab."""

import sys

# jsonschema, which nbformat imports, builds a grammar of internationalised web addresses and loads
# a library of times if the packages for them are there, as they are with JupyterLab: two seconds
# and a tenth in every process, also in that of each attempt. No notebook is validated against such
# a format. So this stands before all imports.
for _format in ("rfc3987_syntax", "isoduration"):
    sys.modules.setdefault(_format, None)  # type: ignore[arg-type]
