"""Measurements of what the course promises. They print figures; they judge nothing."""
