"""The commands behind ./course, one module for each group of verbs."""
