"""Running hand-ins: a batch, an attempt, its process, its kernel, its cluster."""
