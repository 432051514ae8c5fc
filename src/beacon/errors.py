"""What can go wrong through no fault of the code: each kind carries one line meant for the user."""


class BeaconError(Exception):
    """Base of all errors that a user can cause and a user can fix.

    >>> import beacon
    >>> try:
    ...     beacon.MaxSteps(-1)
    ... except beacon.BeaconError as error:
    ...     print(error)
    MaxSteps needs a limit of 0 or more; found -1
    """


def shown(found: object) -> str:
    """What was found, for the one line of an error: an object whose text is long goes by its type."""
    text = repr(found)
    return text if len(text) <= 80 and "\n" not in text else f"an object of type {type(found).__name__}"


class FormatError(BeaconError):
    """A file does not hold what its format says it should."""

    def __init__(self, path: object, where: str, problem: str) -> None:
        """Join the three parts of every parse error: which file, where in it, what is wrong."""
        place = f"{path}, {where}" if where else str(path)
        super().__init__(f"{place}: {problem}")


class ModelError(BeaconError):
    """Variables and factors that do not make a graphical model, or not the kind that was asked for."""


class EvidenceError(BeaconError):
    """Evidence, or an assignment, that does not fit the model."""


class UsageError(BeaconError):
    """A wrong argument; the command line leaves with exit code 2."""


class MissingDependencyError(BeaconError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        """Name the package, what for, and the command that installs it."""
        super().__init__(f"{purpose} needs {package}; install it with: pip install 'beacon-mpe[{extra}]'")
