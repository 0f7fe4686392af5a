"""What the tests of drawings share."""


def words(ax) -> list[str]:
    """Every text of a drawing, in the order in which it was put there."""
    return [text.get_text() for text in ax.texts]
