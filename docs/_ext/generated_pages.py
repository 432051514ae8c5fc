"""Pages that are made when the documentation is built: every public name, every option, and the menu."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import beacon

GROUPS = {
    "Models and files": ("beacon.model", "beacon.formats"),
    "Searching": ("beacon.runner", "beacon.strategies", "beacon.solver", "beacon.session"),
    "Queries": ("beacon.query",),
    "Guides and learning": ("beacon.guide", "beacon.learn"),
    "Measuring and drawing": ("beacon.peers", "beacon.evaluation", "beacon.pipeline", "beacon.report"),
    "Errors": ("beacon.errors",),
}
LINK = re.compile(r"\]\(([\w-]+)\.md\)")
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([\w/-]+\.md)[^)]*\)")
"""Links to pages of the repository that are not part of this book."""
EXAMPLE = re.compile(r"(Example: )? +beacon ")  # of help texts
MARKUP = re.compile(r"\[/?\w[\w ]*\]")  # rich's own, in help texts


def api_page() -> str:
    """A section per group, with the documentation of each of its names."""
    lines = []
    for group, names in names_by_group().items():
        lines += [f"\n## {group}\n"]
        lines += [_documented(name) for name in names]
    return "\n".join(lines)


def names_by_group() -> dict[str, list[str]]:
    """All public names; each belongs to the first group that knows its home."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name, home in beacon._NAME_TO_HOME.items():
        longest = max(
            (
                (len(start), group)
                for group, starts in GROUPS.items()
                for start in starts
                if home.startswith(start)
            ),
        )
        groups[longest[1]].append(name)
    return groups


def _documented(name: str) -> str:
    kind = "autoclass" if inspect.isclass(getattr(beacon, name)) else "autofunction"
    options = "\n   :members:\n" if kind == "autoclass" else "\n"
    return f"```{{eval-rst}}\n.. {kind}:: beacon.{name}{options}```\n"


def options_page() -> str:
    """A section per verb, with its arguments and options."""
    return "\n".join(line for command in commands() for line in _command_lines(command))


def commands() -> list[Any]:
    """The verbs of the command line in the order in which `beacon --help` has them."""
    import typer  # noqa: PLC0415

    from beacon.cli.app import app  # noqa: PLC0415

    group: Any = typer.main.get_command(app)
    return [group.get_command(None, name) for name in group.list_commands(None)]


def _command_lines(command: Any) -> Iterator[str]:
    yield f"\n## beacon {command.name}\n"
    for line in inspect.cleandoc(command.help or "").splitlines():
        words, example, call = line.partition("beacon ") if EXAMPLE.match(line) else (line, "", "")
        yield f"{words.strip() or '-'} `{example}{call}`" if example else plain(line)
    yield ""
    for option in command.params:
        words = plain(getattr(option, "help", None) or "")
        yield f"`{_usage(option)}`\n: {words}{_default(option.default)}\n"


def _default(value: Any) -> str:
    if value is None or value is False or callable(value) or value in ((), [], ""):
        return ""
    return " Default: on." if value is True else f" Default: `{value}`."


def _usage(option: Any) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    if option.param_type_name == "argument":
        return str(option.metavar or option.name)
    metavar = "" if option.is_flag or not (option.metavar or "").strip() else f" {option.metavar}"
    return f"{names}{metavar}"


def plain(text: str) -> str:
    """A help text without the terminal's markup, safe in Markdown."""
    text = MARKUP.sub("", text).replace("\b", "")
    return re.sub(r"([*<>_|])", r"\\\1", text)


def menu(index: str) -> str:
    """The menu: a group for each section of the index, in its order."""
    toctrees = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        pages = "\n".join(dict.fromkeys(LINK.findall(text)))
        toctrees.append(f"```{{toctree}}\n:hidden:\n:caption: {title.strip()}\n\n{pages}\n```\n")
    return "\n".join(toctrees)


def _complete(app: Any, page: str, source: list[str]) -> None:
    if page == "api":
        source[0] += api_page()
    elif page == "options":
        source[0] += options_page()
    elif page == "index":
        source[0] += "\n" + menu(source[0])
    source[0] = OUTSIDE.sub(r"\1 (`\2`)", source[0])


def setup(app: Any) -> dict[str, bool]:
    """Complete pages as they are read."""
    app.connect("source-read", _complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
