"""How `make docs` builds the pages of this folder. They stay plain Markdown, readable without it."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext")]

from beacon import __version__  # noqa: E402

project = "Beacon"
author = "The Beacon authors"
copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "generated_pages",
]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # blocks of text with dots for what is left out

autodoc_member_order = "bysource"
autodoc_typehints = "signature"

html_theme = "furo"
html_title = f"Beacon {__version__}"
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
linkcheck_ignore = [r"https?://(localhost|127\.0\.0\.1)"]
