"""What checks are, what they may see, and what a result is worth."""
