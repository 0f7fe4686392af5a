"""Running hand-ins: a round, an attempt, its process, its kernel, its cluster."""
