"""Options made from a settings dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from beacon.cli.app import app, exit_code_of
from beacon.cli.options import Seed, flags, option
from beacon.errors import check_count


@dataclass(frozen=True)
class Example:
    """Some settings."""

    steps: int = 5
    """Steps of each run."""
    times: tuple[float, ...] = (0.1, 1.0)
    """Times to look at."""
    fast: bool = False
    """Hurry."""

    def __post_init__(self) -> None:
        check_count("steps", self.steps, 1)


def called(*args: str, **more: Any) -> tuple[Any, str]:
    """What a verb with these options is handed, and what is printed."""
    got: list[Any] = []

    @flags("settings", Example, "Mine", "--times S,S,…", "--fast", steps="--my-steps N", **more)
    def verb(*, settings: Any, seed: Seed = 0) -> None:
        got.append(settings)

    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(verb)
    result = CliRunner().invoke(app, args)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return (got[0] if got else None), result.output


def test_the_verb_is_handed_the_settings() -> None:
    assert called()[0] == Example()
    assert called("--my-steps", "3", "--times", "2,0.5", "--fast")[0] == Example(3, (2.0, 0.5), True)


def test_the_help_has_the_texts_and_defaults_of_the_dataclass() -> None:
    text = " ".join(called("--help")[1].split())
    for words in ("Mine", "Steps of each run.", "[default: 5]", "Times to look at.", "[default: 0.1,1.0]"):
        assert words in text


def test_options_that_are_left_to_others_are_handed_over_only_if_given() -> None:
    assert called(unset="as tuned, or {}")[0] == {}
    assert called("--my-steps", "2", unset="as tuned")[0] == {"steps": 2}
    assert "default: as tuned, or 5." in " ".join(called("--help", unset="as tuned, or {}")[1].split())


def test_a_refused_value_is_named_by_its_option(capsys: Any) -> None:
    assert exit_code_of(lambda: called("--my-steps", "0")) == 2
    assert "error: --my-steps must be a whole number" in capsys.readouterr().err
    assert exit_code_of(lambda: called("--times", "soon")) == 2
    assert "--times must be numbers with commas between them; found 'soon'" in capsys.readouterr().err


def test_words_of_a_placeholder_are_completed() -> None:
    method = option("--method auto|gls+|greedy|FILE", "How.")
    assert method.autocompletion("g") == ["gls+", "greedy"]
    assert method.autocompletion("") == ["auto", "gls+", "greedy"]
    assert option("--out FILE", "Where.").autocompletion is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["beacon", "solve", "m.uai", "--method", "gl"], ["gls+"]),
        (["beacon", "train", "m.uai", "q", "--preset", ""], ["solved", "fast", "small", "paper"]),
        (["beacon", "so"], ["solve"]),
    ],
)
def test_the_shell_completes_verbs_and_values(
    words: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("_BEACON_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    with pytest.raises(SystemExit):
        app(prog_name="beacon")
    assert capsys.readouterr().out.split() == expected


def test_the_help_shows_names_in_brackets() -> None:
    assert "[queries], [teacher]" in " ".join(CliRunner().invoke(app, ["run", "--help"]).output.split())
