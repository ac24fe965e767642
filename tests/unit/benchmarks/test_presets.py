"""Presets: each is there because it was measured, as it is, and found more than the defaults."""

from pathlib import Path

import pytest

from benchmarks.corpora.matches import mean_f1, setting_of
from benchmarks.corpora.profiles import KINDS, PRESETS, preset
from benchmarks.corpora.records import CorporaResults, Profile
from benchmarks.records import COMMITTED, load
from stream_dedup.overrides import load as load_settings

ROOT = Path(__file__).parents[3]


def _profiles() -> dict[tuple[str, str], Profile]:
    profiles = load("corpora", CorporaResults, COMMITTED).profiles
    return {(profile.name, profile.corpus): profile for profile in profiles}


def test_every_preset_is_measured_and_documented() -> None:
    """The files are those that the benchmark measures; the README names each."""
    assert {path.stem for path in PRESETS.glob("*")} == set(KINDS)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in KINDS if f"config/presets/{name}.toml" not in readme] == []


@pytest.mark.parametrize("name", KINDS)
def test_a_preset_is_what_was_measured(name: str) -> None:
    """A file that is changed has to be measured again; it sets how texts are compared, no more."""
    measured = _profiles()[name, KINDS[name][1]]
    origins = load_settings(PRESETS / f"{name}.toml", {}).origins

    assert setting_of(preset(name)) == measured.match.setting
    assert preset(name).recall == measured.recall
    changed = {key for key, origin in origins.items() if origin != "default"}
    assert changed == {f"similarity.{key}" for key in ("unit", "size", "threshold", "recall")}


@pytest.mark.parametrize("name", KINDS)
def test_a_preset_is_better_than_the_defaults(name: str) -> None:
    """Over all sets of its kind it finds copies better than the defaults do."""
    corpus = KINDS[name][1]
    own, default = _profiles()[name, corpus], _profiles()["", corpus]

    assert mean_f1(own.match, own.copies) > mean_f1(default.match, default.copies) + 0.05


@pytest.mark.parametrize("name", KINDS)
def test_every_line_of_a_preset_has_its_reason(name: str) -> None:
    """Above each setting stands why it is as it is."""
    lines = (PRESETS / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    settings = [place for place, line in enumerate(lines) if " = " in line and line[0] != "#"]

    assert len(settings) == 4
    assert [lines[place] for place in settings if not lines[place - 1].startswith("# ")] == []
