"""``beacon train``: learn a guide."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Any

from beacon.cli.console import ProgressBar, note, one_line, say, say_json
from beacon.cli.options import OUTPUT, Device, Json, Keys, ModelFile, QueryFile, Quiet, Seed, flags, option
from beacon.io.files import check_no_input
from beacon.learn import train as library
from beacon.pipeline.settings import RunSettings

TRAINING = "Training"
TrajectoriesFile = Annotated[
    str | None,
    option("--trajectories T", "File of `beacon collect`; without it, they are collected first.", TRAINING),
]
Logs = Annotated[str | None, option("--tensorboard DIR", "Folder for logs that TensorBoard shows.", OUTPUT)]


@flags("chosen", RunSettings, TRAINING, "--preset solved|fast|small|paper", unset="{}", check=False)
@flags(
    *("changes", library.TrainingSettings, TRAINING, "--epochs N", "--states-per-query N", "--batch N"),
    unset="the preset's",
)
def train(
    model_file: ModelFile,
    queries_file: QueryFile,
    *,
    out: Annotated[str, option("-o --out GUIDE", "Folder to write the guide to.")],
    chosen: dict[str, Any],
    trajectories_file: TrajectoriesFile = None,
    device: Device = "auto",
    changes: dict[str, Any],
    key: Keys = None,
    seed: Seed = 0,
    tensorboard: Logs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a guide on a query set. Ctrl-C keeps the best epoch so far; the same command then goes on.

    Example:  beacon train alarm.bif alarm.parquet -o alarm.guide --preset fast
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.guide.checkpoint import check_guide_folder  # noqa: PLC0415
    from beacon.pipeline.pipeline import UNFINISHED, epoch_line  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415

    preset = chosen.get("preset", RunSettings.preset)
    check_guide_folder(out)
    check_no_input(f"{out}{UNFINISHED}", [model_file, queries_file, trajectories_file])
    library.check_can_train(preset, device, tensorboard)
    model = read_model(model_file)
    queries = QuerySet.load(queries_file, model, key or ())
    quiet = quiet or not library.is_leader()  # of several processes one speaks
    with ProgressBar("collecting trajectories", len(queries), quiet) as bar:
        trajectories = library.collected(
            model, queries, seed, lambda done, _: bar.reach(done), trajectories_file
        )
    began = perf_counter()
    most = changes.get("epochs") or library.load_preset(preset).most_epochs
    work = f"training, preset {preset}" + (f", at most {most} epochs (Ctrl-C keeps the best)" if most else "")
    with ProgressBar(work, most, quiet) as bar:

        def show(record: dict[str, Any]) -> None:
            bar.note(epoch_line(record))
            bar.reach(record["epoch"])

        how = {"seed": seed, "device": device, "tensorboard": tensorboard, "on_epoch": show, **changes}
        unfinished = f"{out}{UNFINISHED}"
        guide = library.train(model, queries, preset, trajectories, state_file=unfinished, **how)
    if library.is_leader():
        guide.save(out)
        facts = {"guide": out, "preset": preset, **library.training_facts(guide.facts)}
        facts["seconds"] = perf_counter() - began
        say_json(facts) if json else say(one_line(library.facts_in_words(facts)))
        if not facts["complete"] and not quiet:
            note("training was interrupted; the same command goes on from where it stopped")
