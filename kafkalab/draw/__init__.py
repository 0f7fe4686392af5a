"""Charts of data, diagrams of structure, and what they have in common."""
