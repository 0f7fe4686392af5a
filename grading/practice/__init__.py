"""The learner's own check of a lab."""
