"""The course as students get it."""
