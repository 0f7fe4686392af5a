"""The author's proof that a lab judges rightly."""
