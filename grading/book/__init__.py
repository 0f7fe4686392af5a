"""The class: who is in it, its rules, what a teacher decided, and what counts in the end."""
