"""Parts of a page by hand that a command writes: what stands between two marks."""


def marks(name: str) -> tuple[str, str]:
    """How the part of this name begins and ends."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def put(page: str, name: str, content: str) -> str:
    """The page with the part of this name renewed; ValueError if it lacks the marks."""
    begin, end = marks(name)
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"The page lacks the marks {begin} and {end}")
    return f"{before}{begin}\n{content}\n{end}{after}"
