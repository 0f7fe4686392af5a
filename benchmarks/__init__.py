"""Measurements of what the course promises. They print figures; those that repeat an experiment
fail where it does not end the same way every time.
"""
