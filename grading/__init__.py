"""Who judges: the grader, and the checks of each lab."""
