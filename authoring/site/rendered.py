"""HTML of the pages: nbconvert's, with the way through the course beside it and a search above."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from bs4 import BeautifulSoup, Tag
from nbformat import NotebookNode

TEMPLATES = Path(__file__).with_name("templates")
INDEX = "index.html"
LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")
OUTSIDE = re.compile(r"[a-z]+:|#")


@dataclass(frozen=True)
class Entry:
    """A page as the others see it."""

    name: str  # 00_start
    title: str  # 00 Start
    question: str
    minutes: int | None

    @property
    def file(self) -> str:
        return f"{self.name}.html"


@dataclass(frozen=True)
class Part:
    """Pages under one heading."""

    heading: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Section:
    """What a search finds: the text under one heading of a page."""

    file: str
    page: str
    anchor: str
    heading: str
    text: str


def page(notebook: NotebookNode, entry: Entry, parts: Sequence[Part]) -> str:
    """The HTML of one page. The notebook's links are changed to those of the site."""
    from nbconvert import HTMLExporter

    entries = [one for part in parts for one in part.entries]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _linked(cell.source, {one.name for one in entries})
    notebook.metadata["title"] = entry.title
    exporter = HTMLExporter(
        template_name="page",
        extra_template_basedirs=[str(TEMPLATES)],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    resources = {"site": {"parts": parts, "entry": entry, "index": INDEX}}
    body, _ = exporter.from_notebook_node(notebook, resources=resources)
    return str(body)


def contents(parts: Sequence[Part]) -> str:
    """The page that a visitor sees first."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    templates = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    return templates.get_template("contents.html").render(parts=parts, index=INDEX)


def sections(html: str, entry: Entry) -> list[Section]:
    """The prose and the code of a page, by the headings above them."""
    found: list[Section] = []
    heading, anchor, words = entry.title, "", list[str]()

    def close() -> None:
        if text := " ".join(words):
            found.append(Section(entry.file, entry.title, anchor, heading, text))

    for part in BeautifulSoup(html, "html.parser").select(".jp-MarkdownCell, .jp-CodeCell"):
        body = part.select_one(".jp-RenderedMarkdown, .jp-InputArea-editor")
        if body is None:
            continue
        title = body.find(["h1", "h2"])
        if isinstance(title, Tag):
            title.extract()
            if title.name == "h2":
                close()
                heading, anchor, words = _text(title).rstrip("¶"), str(title.get("id", "")), []
        words.append(_text(body))
    close()
    return found


def search_index(found: Sequence[Section]) -> str:
    """A script, because a page that was opened as a file may load one and may not fetch data."""
    # The end of a script element must not occur in it.
    text = json.dumps([vars(one) for one in found], ensure_ascii=False).replace("</", "<\\/")
    return f"const SECTIONS = {text};\n"


def asset(name: str) -> str:
    """A file that goes into the site as it is."""
    return (TEMPLATES / name).read_text("utf-8")


def _linked(text: str, names: Collection[str]) -> str:
    """Links to pages of the site; of others, which it does not have, the words."""

    def changed(link: re.Match[str]) -> str:
        target = link["target"]
        if OUTSIDE.match(target):
            return link[0]
        name = Path(target).stem
        if name == "README":
            return f"[{link['words']}]({INDEX})"
        return f"[{link['words']}]({name}.html)" if name in names else link["words"]

    return LINK.sub(changed, text)


def _text(tag: Tag) -> str:
    return " ".join(tag.get_text().split())
