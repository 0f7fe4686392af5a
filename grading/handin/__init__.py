"""From what was uploaded to the notebook that is run."""
