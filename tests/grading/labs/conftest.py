import sys
from pathlib import Path

# `state` is shared by the tests of this folder only.
sys.path.insert(0, str(Path(__file__).parent))
