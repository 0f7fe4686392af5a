"""A sentence that JupyterLab shows as prose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """Shown as prose in a notebook, and as it reads elsewhere."""

    markdown: str

    def _repr_markdown_(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return self.markdown.replace("**", "").replace("`", "")
