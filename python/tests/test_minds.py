"""Every example speaks, and what is broken is found."""

import textwrap
from pathlib import Path

import pytest

from bardo.testing import check_mind

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("example", ["volatility.py", "learner.py"])
def test_an_example_has_nothing_wrong_with_it(example):
    assert check_mind(EXAMPLES / example) == []


@pytest.mark.parametrize(
    "broken, sentence",
    [
        ("return Word(claims={'direction': 2})", "2 is not a possible value of direction"),
        ("return Word(claims={'the weather': 2})", "there is no domain 'the weather'"),
        ("return Word(claims={'volatility': float('nan')})", "ValueError"),
        ("return Word(action='rob', size=1)", "there is no action 'rob'"),
        ("return Word(rules=['sell it all'])", "cannot be read"),
        ("raise KeyError('gone')", "KeyError: 'gone'"),
    ],
)
def test_what_is_broken_is_said_in_a_sentence(tmp_path, broken, sentence):
    script = tmp_path / "broken.py"
    script.write_text(textwrap.dedent("""
        from bardo import Mind, Word

        class Broken(Mind):
            def look(self, look):
                {}

        Broken().run()
    """).format(broken))
    found = check_mind(script)
    assert any(sentence in one for one in found), found


def test_a_look_has_names_and_a_word_has_parts(tmp_path):
    script = tmp_path / "all.py"
    script.write_text(textwrap.dedent("""
        from bardo import Mind, Word

        class All(Mind):
            def look(self, look):
                assert set(look.last.values) == set(self.domains) and set(look.last.features) == set(self.features)
                assert look.golem.phase and look.golem.credit > 0 and look.golem.held >= 0
                if look.golem.tick > 60:
                    assert look.resolved and look.golem.raw["record"]
                return Word(
                    claims={"direction": 0.6},
                    rules=["when ret_24 > 3% expect direction 60% over 24"],
                    action=self.actions[0],
                    size=0.02,
                    note="hello",
                    assessment={"new": [{"name": "storm", "condition": "vol_24 > 2%"}]},
                )

        All().run()
    """))
    assert check_mind(script) == []
