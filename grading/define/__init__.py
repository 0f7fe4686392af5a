"""A lab as its author wrote it: its definition, its parameters, its notebooks."""
