"""What is kept of an attempt, and the pages made of it."""
