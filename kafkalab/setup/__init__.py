"""What a machine needs for the course, and the learner's copies of it."""
