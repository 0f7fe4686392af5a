"""No page is far larger than what one sitting holds."""

from authoring import rules, sizes
from authoring.percent import Script

# Pages that are above a limit and wait to be split. A page leaves this list, and none comes on it.
TOO_LARGE: dict[str, list[str]] = {}


def test_it_is_not_too_large(page: Script) -> None:
    name = rules.name(page)
    above = sizes.measure(page).above(sizes.LIMITS)
    known = TOO_LARGE.get(name, [])
    for what in above:
        assert what in known, f"{page.path}: {what} above {sizes.LIMITS[what]:,}; split the page"
    assert known == above, f"{name} has become smaller: let {__name__} say {above}"


def test_every_page_of_the_list_is_there(scripts: list[Script]) -> None:
    assert set(TOO_LARGE) <= {rules.name(script) for script in scripts}
