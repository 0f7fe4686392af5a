"""What breaks while a student's cell runs."""
