"""Other solvers answer the same queries; their answers are checked, their failures told apart."""

from __future__ import annotations

import math
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from beacon.errors import BeaconError, MissingDependencyError, UsageError
from beacon.model.families import ising_grid, pedigree, random_bayes_net
from beacon.model.graphical_model import GraphicalModel
from beacon.peers import toulbar2_child
from beacon.peers.child import run_child
from beacon.peers.peer import checked_answer, find_peer
from beacon.peers.toulbar2 import problem
from tests.engine.helpers import small_models, some_evidence
from tests.reference import Naive

INF = math.inf
ALL_DIFFERENT = GraphicalModel.from_tables(
    [2, 2, 2], [(pair, [-INF, 0.0, 0.0, -INF]) for pair in ((0, 1), (1, 2), (0, 2))]
)
"""No assignment is possible, and no factor alone shows it."""


def optimum(model: GraphicalModel, evidence: dict[int, int]) -> float:
    zeros, score = Naive(model, evidence, log_zero=-1000.0).best()
    return -INF if zeros else score


class TestBruteForce:
    @pytest.mark.parametrize("name", small_models())
    def test_it_finds_the_best_of_all_assignments(self, name):
        model = small_models()[name]
        evidence = some_evidence(model, 3, seed=2)
        answer = find_peer("brute-force").solve(model, evidence, 60.0)
        best = optimum(model, evidence)
        assert answer.log_score == pytest.approx(best)
        assert answer.proved_optimal == (best > -INF)

    def test_too_many_assignments_are_refused(self):
        with pytest.raises(UsageError, match="brute force takes at most 1,000,000 assignments"):
            find_peer("brute-force").solve(ising_grid(5, 5), {}, 1.0)

    def test_the_time_limit_is_kept(self):
        answer = find_peer("brute-force").solve(ising_grid(4, 4), {}, 0.0)
        assert (answer.assignment, answer.proved_optimal) == (None, False)
        assert answer.why == "time limit of 0 s"


class TestNames:
    def test_an_unknown_peer_is_refused(self):
        with pytest.raises(UsageError, match="no peer is called 'cplex'; there are: toulbar2, daoopt, brute"):
            find_peer("cplex")

    def test_daoopt_needs_a_program(self, tmp_path):
        with pytest.raises(UsageError, match="daoopt needs the path of its program"):
            find_peer("daoopt")
        with pytest.raises(UsageError, match=r"daoopt: no program to run at .*nothing"):
            find_peer("daoopt", str(tmp_path / "nothing"))

    def test_toulbar2_may_be_missing(self, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(MissingDependencyError, match=r"pip install 'beacon-mpe\[peers\]'"):
            find_peer("toulbar2")


class TestCheckedAnswers:
    def test_the_score_is_computed_anew(self):
        model = ising_grid(2, 2)
        answer = checked_answer(model, {}, np.zeros(4, np.int64), True, 0.1)
        assert answer.log_score == model.log_score([0, 0, 0, 0])
        assert (answer.proved_optimal, answer.why) == (True, "")

    def test_an_answer_that_breaks_the_evidence_is_none(self):
        answer = checked_answer(ising_grid(2, 2), {3: 1}, np.zeros(4, np.int64), True, 0.1)
        assert (answer.assignment, answer.log_score, answer.proved_optimal) == (None, -INF, False)
        assert "changes the observed variable" in answer.why

    def test_an_impossible_answer_is_no_proof(self):
        answer = checked_answer(ALL_DIFFERENT, {}, np.zeros(3, np.int64), True, 0.1)
        assert (answer.log_score, answer.proved_optimal) == (-INF, False)
        assert answer.why == "the answer has probability zero"


class TestChildren:
    def test_one_that_overruns_is_killed_and_its_output_kept(self, tmp_path):
        code = "import time; print('so far', flush=True); time.sleep(60)"
        run = run_child([sys.executable, "-c", code], tmp_path, 1.0)
        assert (run.output, run.exit_code) == ("so far\n", None)
        assert run.failure.startswith("killed after")

    def test_one_that_understands_is_asked_to_finish(self, tmp_path):
        code = (
            "import signal, time, os\n"
            "signal.signal(signal.SIGVTALRM, lambda *_: (print('best', flush=True), os._exit(0)))\n"
            "print('ready', flush=True)\ntime.sleep(60)"
        )
        run = run_child([sys.executable, "-c", code], tmp_path, 1.0, finish=signal.SIGVTALRM)
        assert (run.output.split(), run.exit_code, run.failure) == (["ready", "best"], 0, "")

    def test_its_helpers_are_killed_with_it(self, tmp_path):
        code = (
            "import subprocess, sys, time\n"
            "helper = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
            "print(helper.pid, flush=True)\ntime.sleep(60)"
        )
        run = run_child([sys.executable, "-c", code], tmp_path, 1.0)
        assert not is_running(int(run.output))

    def test_a_death_is_told_from_a_failure(self, tmp_path):
        died = run_child(["/bin/sh", "-c", "kill -SEGV $$"], tmp_path, 10.0)
        failed = run_child(["/bin/sh", "-c", "echo no memory >&2; exit 3"], tmp_path, 10.0)
        assert died.failure == "died of SIGSEGV"
        assert failed.failure == "failed with exit code 3: no memory"

    def test_a_program_that_cannot_run_is_an_error_of_the_user(self, tmp_path):
        (tmp_path / "text").write_text("no program")
        with pytest.raises(BeaconError, match=r"cannot run .*text: permission denied"):
            run_child([str(tmp_path / "text")], tmp_path, 1.0)


def is_running(process: int) -> bool:
    """Alive and not only waiting to be buried."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True


@pytest.fixture(scope="module")
def toulbar2():
    pytest.importorskip("pytoulbar2")
    return find_peer("toulbar2")


class TestToulbar2:
    @pytest.mark.parametrize("name", small_models())
    def test_it_finds_the_optimum_and_proves_it(self, toulbar2, name):
        model = small_models()[name]
        evidence = some_evidence(model, 2, seed=5)
        answer = toulbar2.solve(model, evidence, 60.0)
        best = optimum(model, evidence)
        assert answer.log_score == pytest.approx(best, abs=1e-4)
        assert answer.proved_optimal == (best > -INF)
        if answer.assignment is not None:
            assert answer.log_score == model.log_score(answer.assignment)
            assert all(answer.assignment[i] == value for i, value in evidence.items())

    def test_evidence_on_variable_0_alone_is_not_ignored(self, toulbar2):
        """The evidence file "1 0 1" would be."""
        model = GraphicalModel.from_tables([2, 2], [((0,), [5.0, 0.0]), ((0, 1), [1.0, 0.0, 0.0, 1.0])])
        answer = toulbar2.solve(model, {0: 1}, 60.0)
        assert answer.assignment.tolist() == [1, 1]
        assert answer.log_score == pytest.approx(1.0)

    def test_tables_of_bayesian_networks_are_not_normalised_anew(self, toulbar2):
        """A column of 1 and one of 0.01 must not become equal."""
        rows = np.log([[0.5, 0.5], [0.005, 0.005]])
        model = GraphicalModel.from_tables([2, 2], [((0,), np.log([0.4, 0.6])), ((0, 1), rows)])
        assert toulbar2.solve(model, {}, 60.0).assignment[0] == 0

    def test_scores_are_ours_and_not_its_costs(self, toulbar2):
        model = GraphicalModel.from_tables([2], [((0,), [100.0, 99.0]), ((), [7.5])])
        assert toulbar2.solve(model, {}, 60.0).log_score == 107.5

    def test_small_differences_count(self, toulbar2):
        model = GraphicalModel.from_tables([2, 2], [((0,), [-3.0, -2.99999]), ((0, 1), [0.0] * 4)])
        assert toulbar2.solve(model, {}, 60.0).assignment[0] == 1

    def test_huge_costs_do_not_overflow(self, toulbar2):
        model = GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1e12, -1e12, -1.0]), ((0,), [-2.0, 0.0])])
        answer = toulbar2.solve(model, {}, 60.0)
        assert answer.log_score == -1.0
        scoped = [(list(factor.scope), factor.log_table.ravel()) for factor in model.factors]
        assert problem([2, 2], scoped)["decimals"] < 6

    @pytest.mark.parametrize("arity", [2, 3, 4, 5])
    def test_zeros_are_forbidden_however_good_the_rest(self, toulbar2, arity):
        """Only the assignment of all ones is possible, and every other table speaks against it."""
        table = np.full((2,) * arity, -INF)
        table[(1,) * arity] = -50.0
        others = [((i,), [0.0, -20.3333333]) for i in range(arity)]
        model = GraphicalModel.from_tables([2] * arity, [(range(arity), table), *others])
        answer = toulbar2.solve(model, {}, 60.0)
        assert answer.assignment.tolist() == [1] * arity
        assert answer.proved_optimal

    def test_single_values_and_nothing_to_find(self, toulbar2):
        model = GraphicalModel.from_tables([1, 2], [((0, 1), [0.0, -1.0])])
        answer = toulbar2.solve(model, {1: 1}, 60.0)
        assert (answer.assignment.tolist(), answer.log_score, answer.proved_optimal) == ([0, 1], -1.0, True)

    @pytest.mark.parametrize("evidence", [{}, {0: 1}])
    def test_impossible_evidence_is_named(self, toulbar2, evidence):
        answer = toulbar2.solve(ALL_DIFFERENT, evidence, 60.0)
        assert answer.assignment is None
        assert answer.why == "no assignment has a non-zero probability"

    def test_a_zero_table_is_named_without_asking(self, toulbar2):
        model = GraphicalModel.from_tables([2], [((0,), [-INF, 0.0])])
        assert toulbar2.solve(model, {0: 0}, 60.0).why == "no assignment has a non-zero probability"

    def test_at_the_time_limit_there_is_the_best_so_far_without_proof(self, toulbar2):
        model = ising_grid(40, 40, wrap=True, seed=1)
        answer = toulbar2.solve(model, {}, 3.0)
        assert not answer.proved_optimal
        assert answer.assignment is None or answer.log_score > 0
        assert answer.why

    def test_a_hopeless_limit_gives_no_answer(self, toulbar2):
        answer = toulbar2.solve(ising_grid(10, 10, seed=1), {}, 0.001)
        assert answer.assignment is None
        assert answer.why in {"died of SIGVTALRM", "killed after 0.0 s"}

    def test_a_child_that_dies_is_survived(self, toulbar2, monkeypatch, tmp_path):
        dying = tmp_path / "dying.py"
        dying.write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
        monkeypatch.setattr(toulbar2_child, "__file__", str(dying))
        answer = toulbar2.solve(ising_grid(3, 3), {}, 60.0)
        assert (answer.assignment, answer.why) == (None, "died of SIGSEGV")

    def test_its_child_imports_neither_beacon_nor_numpy(self, toulbar2, tmp_path):
        code = f"import runpy, sys; runpy.run_path({toulbar2_child.__file__!r}); print(sorted(sys.modules))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert "'numpy'" not in done.stdout
        assert "'beacon'" not in done.stdout

    def test_it_agrees_with_brute_force_on_pedigrees_and_networks(self, toulbar2):
        for model in (
            pedigree(2, 1, num_loci=1, max_alleles=3, seed=3),
            random_bayes_net(num_variables=10, max_domain=3, zero_fraction=0.4, seed=3),
        ):
            best = find_peer("brute-force").solve(model, {}, 60.0)
            answer = toulbar2.solve(model, {}, 60.0)
            assert answer.log_score == pytest.approx(best.log_score, abs=1e-4)


@pytest.fixture
def daoopt(tmp_path):
    """A stand-in for daoopt that prints what it is told to, and leaves its command line and input behind."""

    def make(*lines: str, then: str = ""):
        program = tmp_path / "daoopt"
        printed = "".join(f"print({line!r}, flush=True)\n" for line in lines)
        program.write_text(
            f"#!{sys.executable}\nimport os, shutil, sys, time\n"
            f"shutil.copy('model.uai', {str(tmp_path)!r})\n"
            f"open({str(tmp_path / 'arguments')!r}, 'w').write(' '.join(sys.argv[1:]))\n{printed}{then}\n"
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return find_peer("daoopt", str(program))

    return make


class TestDaoopt:
    MODEL = GraphicalModel.from_tables([2, 2, 2], [((0, 1), [0.0, -1.0, -2.0, -3.0]), ((1, 2), [0.0] * 4)])

    def test_its_log10_score_is_not_believed(self, daoopt):
        answer = daoopt("s -0.4342 3 0 1 0").solve(self.MODEL, {}, 60.0)
        assert (answer.assignment.tolist(), answer.log_score) == ([0, 1, 0], -1.0)
        assert answer.proved_optimal

    def test_the_evidence_goes_into_the_tables(self, daoopt, tmp_path):
        answer = daoopt("s 0.0 2 1 1").solve(self.MODEL, {1: 0}, 60.0)
        assert answer.assignment.tolist() == [1, 0, 1]
        words = (tmp_path / "model.uai").read_text().split()
        assert words[:4] == ["MARKOV", "2", "2", "2"]
        assert (tmp_path / "arguments").read_text() == "-f model.uai"

    def test_when_it_overruns_its_last_improvement_counts(self, daoopt):
        lines = ["u 0 0 -3.1 3 1 1 1", "u 5 7 -2.2 3 1 0 0", "u 9 9 -1"]
        answer = daoopt(*lines, then="time.sleep(60)").solve(self.MODEL, {}, 1.0)
        assert answer.assignment.tolist() == [1, 0, 0]
        assert not answer.proved_optimal
        assert answer.why.startswith("killed after")

    @pytest.mark.parametrize("line", ["s -inf 3 0 0 0", "s nan 0", "s 0.0 2 0 0", "s", "u 1", "nothing"])
    def test_a_line_without_an_assignment_is_no_answer(self, daoopt, line):
        answer = daoopt(line).solve(self.MODEL, {}, 60.0)
        assert (answer.assignment, answer.why) == (None, "it printed no assignment")

    def test_a_crash_after_an_improvement_is_no_proof(self, daoopt):
        answer = daoopt("u 0 0 -3.1 3 1 1 1", then="os.abort()").solve(self.MODEL, {}, 60.0)
        assert answer.assignment.tolist() == [1, 1, 1]
        assert (answer.proved_optimal, answer.why) == (False, "died of SIGABRT")

    def test_rotate_is_refused(self):
        from beacon.peers.daoopt import Daoopt  # noqa: PLC0415

        with pytest.raises(UsageError, match="--rotate can report a false optimum"):
            Daoopt(sys.executable, ("--rotate",))

    def test_its_files_do_not_land_in_the_working_folder(self, daoopt, tmp_path, monkeypatch):
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        daoopt("s 0.0 3 0 0 0", then="open('left-over', 'w')").solve(self.MODEL, {}, 60.0)
        assert os.listdir() == []
