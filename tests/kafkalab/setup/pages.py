"""Notebooks for tests of the learners' copies."""

import json


def notebook(text: str, output: str = "") -> str:
    """A notebook of one cell, as JupyterLab stores it after a run with that output."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": [output]}] if output else []
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": text.splitlines(keepends=True),
        "outputs": outputs,
        "execution_count": 1 if output else None,
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
