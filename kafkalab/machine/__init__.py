"""What the machine gives and what it withholds. Standard library alone, so that it can be asked
before anything is installed."""
