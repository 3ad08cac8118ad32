"""What a simulation reports where the product breaks a promise."""


class Violation(AssertionError):
    """A promise does not hold in this world."""


def check(holds, what):
    """Raise where something doesn't hold."""
    if not holds:
        raise Violation(what)
