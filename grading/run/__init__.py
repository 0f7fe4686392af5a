"""Running hand-ins: their lanes, an attempt, its process, its kernel, its cluster."""
