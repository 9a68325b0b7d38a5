"""Every example keeps every promise, and what is broken is found."""

import os
import random
import textwrap
from pathlib import Path

import pytest

from bardo import lab
from bardo.testing import check_world

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_tides_keep_every_promise():
    assert check_world(EXAMPLES / "tides.py") == []


def test_a_csv_of_prices_keeps_every_promise(tmp_path):
    import sys

    file, price, chance = tmp_path / "prices.csv", 100.0, random.Random(7)
    with file.open("w") as out:
        out.write("time,price\n")
        for hour in range(2_000):
            if hour in (700, 701, 1_500):
                continue
            price *= 1 + chance.gauss(0, 0.01)
            out.write(f"{1_700_002_800 + hour * 3_600},{price}\n")
    assert check_world([sys.executable, str(EXAMPLES / "prices.py"), str(file)]) == []


@pytest.mark.parametrize(
    "broken, sentence",
    [
        ("def bars(self, since, now): return [Bar(now, [float('nan')], [], 1)]", "ValueError"),
        ("def bars(self, since, now): return [Bar(now, [1, 2], [], 1)]", "2 values for 1 domains"),
        ("def bars(self, since, now): raise KeyError('gone')", "KeyError: 'gone'"),
        ("def start(self): return 'yesterday'", "cannot be: invalid type"),
        ("def start(self): raise OSError('no cable')", "OSError: no cable"),
    ],
)
def test_what_is_broken_is_said_in_a_sentence(tmp_path, broken, sentence):
    script = tmp_path / "broken.py"
    script.write_text(textwrap.dedent("""
        from bardo import Bar, Domain, World

        class Broken(World):
            domains = [Domain("level")]
            def start(self): return 1_700_000_040_000
            {}

        Broken().run()
    """).format(broken))
    found = check_world(script)
    assert any(sentence in one for one in found), found


def test_the_laboratory_answers(tmp_path):
    came_to = lab.lives(4, most_ticks=200, home=str(tmp_path))
    assert came_to["lives"] == 4
    arms = lab.vary("mind.kind", ["rules", "reflex"], lives=4, most_ticks=200, home=str(tmp_path))
    assert len(arms) >= 1
    with pytest.raises(RuntimeError):
        lab.lives(4, settings={"no.such": True}, home=str(tmp_path))


def test_a_missing_program_is_said(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("BARDO", raising=False)
    with pytest.raises(FileNotFoundError, match="no `bardo` on the path"):
        check_world(os.devnull)
