"""What keeps the course from running on this machine, and what mends it.

    examination    the checks, in the order in which they are told
    diagnosis      what a check answers
    attempts       a broker, Spark and JupyterLab are started, used and ended again

`system`, `folders`, `variables` and `network` use the standard library alone: they are asked
before anything is installed, too.
"""
