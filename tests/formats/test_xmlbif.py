"""XMLBIF: networks as XML, without what XML could do to a reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import FormatError, ModelError
from beacon.formats import read_model, write_model, xmlbif
from beacon.model.families import random_bayes_net
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import read_or_one_line, same_factors

TEXT = """<?xml version="1.0" encoding="US-ASCII"?>
<!-- two variables -->
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3"><NETWORK><NAME>tiny</NAME>
<VARIABLE TYPE="nature"><NAME>a&amp;b</NAME><OUTCOME>no</OUTCOME><OUTCOME> yes </OUTCOME>
  <PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>c</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME><OUTCOME>z</OUTCOME></VARIABLE>
<DEFINITION><FOR>c</FOR><GIVEN>a&amp;b</GIVEN>
<TABLE>0.1 0.2 0.7 <!-- the next row -->
0.25 0.75 0.0</TABLE></DEFINITION>
<DEFINITION><FOR>a&amp;b</FOR><TABLE>0.4 0.6</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def test_the_child_varies_fastest() -> None:
    model = xmlbif.read(TEXT, "m.xml")
    assert model.names == ("a&b", "c")
    assert model.labels == (("no", "yes"), ("x", "y", "z"))
    assert [factor.scope for factor in model.factors] == [(0, 1), (0,)]
    assert np.exp(model.factors[0].log_table) == pytest.approx(np.array([[0.1, 0.2, 0.7], [0.25, 0.75, 0]]))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("</BIF>", "", "line 13: expected XML: no element found"),
        ("<!ELEMENT BIF ( NETWORK )*>", '<!ENTITY a "aa">', "line 3: expected no entities, found the decl"),
        ("<!ELEMENT BIF ( NETWORK )*>", '<!ENTITY % a SYSTEM "x">', "line 3: expected no entities"),
        ("<BIF VERSION", "<FIB VERSION", "expected XML: mismatched tag"),
        ("<NETWORK>", "", "expected XML: mismatched tag"),
        ('TYPE="nature"', 'TYPE="utility"', "line 5: expected a variable of TYPE 'nature', found 'utility'"),
        ("<NAME>c</NAME>", "<NAME>a&amp;b</NAME>", "line 7: variable 'a&b' is defined twice"),
        ("<NAME>c</NAME>", "", "line 7: expected one NAME in a VARIABLE, found 0"),
        ("<OUTCOME>y</OUTCOME>", "<OUTCOME>x</OUTCOME>", "line 7: variable 'c' has the value 'x' twice"),
        ("<OUTCOME>y</OUTCOME>", "", "line 8: expected 4 probabilities for 'c', found 6"),
        ("0.25 0.75", "0.25 0.85", "line 8: expected probabilities of 'c' that sum to 1, found 1.1"),
        ("0.25 0.75", "0.25 nan", "line 8: expected a probability, found 'nan'"),
        ("<GIVEN>a&amp;b</GIVEN>", "<GIVEN>d</GIVEN>", "line 8: no variable is called 'd'"),
        ("<FOR>a&amp;b</FOR>", "<FOR>c</FOR>", "line 11: the distribution of 'c' is defined twice"),
        ("<FOR>a&amp;b</FOR><TABLE>0.4 0.6", "<FOR>a&amp;b</FOR><GIVEN>c</GIVEN><TABLE>1 0 1 0 1 0", "cycle"),
        ("<DEFINITION><FOR>a&amp;b</FOR><TABLE>0.4 0.6</TABLE></DEFINITION>", "", "lacks its DEFINITION"),
        ("<PROPERTY>", "<P>" * 40 + "</P>" * 40 + "<PROPERTY>", "at most 32 elements inside each other"),
    ],
)
def test_mistakes_are_named_with_their_line(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(FormatError) as caught:
        xmlbif.read(TEXT.replace(old, new, 1), "m.xml")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), names=st.data())
def test_a_network_comes_back_with_its_names(seed: int, names: st.DataObject) -> None:
    plain = random_bayes_net(num_variables=5, seed=seed)
    words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5)
    chosen = names.draw(st.lists(words, min_size=5, max_size=5, unique=True))
    model = GraphicalModel(tuple(chosen), plain.labels, plain.factors)
    again = xmlbif.read(xmlbif.write(model), "m.xml")
    assert again.names == model.names
    assert again.fingerprint == model.fingerprint
    assert all(
        a.log_table.tobytes() == b.log_table.tobytes()
        for a, b in zip(again.factors, model.factors, strict=True)
    )


@pytest.mark.parametrize("name", ["a\x01", " a", "a\nb"])
def test_names_that_xml_cannot_hold_are_refused(name: str) -> None:
    model = GraphicalModel.from_tables([1], [((0,), [0.0])], [name])
    with pytest.raises(ModelError, match="cannot be written as XMLBIF"):
        xmlbif.write(model)


def test_only_bayesian_networks_are_written() -> None:
    with pytest.raises(ModelError, match="only Bayesian networks can be written as XMLBIF"):
        xmlbif.write(GraphicalModel.from_tables([2], [((0,), [1.0, 2.0])]))


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_random_damage_gives_a_model_or_one_line(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TEXT)))
    end = at + data.draw(st.integers(0, 20))
    text = TEXT[:at] + data.draw(st.text(st.sampled_from('<>&"0.9/ a'), max_size=6)) + TEXT[end:]
    read_or_one_line(lambda: xmlbif.read(text, "m.xml"))


@pytest.mark.parametrize("suffix", [".xml", ".xmlbif.gz"])
def test_published_networks_come_back(benchmark_files: Path, tmp_path: Path, suffix: str) -> None:
    model = read_model(benchmark_files / "bif" / "alarm.bif.xz")
    write_model(model, tmp_path / f"alarm{suffix}")
    again = read_model(tmp_path / f"alarm{suffix}")
    assert (again.names, again.labels) == (model.names, model.labels)
    assert same_factors(again, model)
