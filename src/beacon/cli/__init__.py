"""The command line: one file per verb.

Verbs import what they need inside their functions (``noqa: PLC0415``): numba, numpy and the file readers
take time to load, and ``beacon --help`` needs none of them.
"""


def main() -> None:
    """Run ``beacon`` with the arguments of the process, and leave with its exit code."""
    from beacon.cli.app import app  # noqa: PLC0415
    from beacon.cli.console import make_streams_safe  # noqa: PLC0415

    make_streams_safe()
    app(prog_name="beacon")
