"""What was sent and read, and what became of it: the evidence for claims about delivery."""
