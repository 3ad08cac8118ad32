"""Words that are read side by side are those that reading each body by itself gives."""

import random

import msgpack
import pytest

from beliefbase.projections.columns import Same
from beliefbase.projections.words import Words

LENGTHS = (0, 1, 31, 32, 255, 256, 65_535, 65_536)
TEXTS = (*("a" * length for length in LENGTHS), "ä", "ä" * 16, "ö" * 40_000, "日本", "\U0001f600", "\0")
OTHERS = (None, 7, True, b"bytes", (), ("a",), ("a", "ä"), ("a", 1), {"topic": "inside"}, 1.5)
NAMES = ("topic", "verbatim", "ä", "n" * 40, "n" * 300, "speaker", "conversation")


def body(dice, names):
    """Mostly texts, seldom anything else."""
    words = {name: dice.choice(TEXTS if dice.random() < 0.9 else OTHERS) for name in names if dice.random() < 0.7}
    return msgpack.packb((1, dict(sorted(words.items()))))


def as_maps(bodies):
    return [None if body is None else msgpack.unpackb(body, use_list=False)[1] for body in bodies]


def said(words, names):
    found = {"here": words.here.tolist()}
    for name in names:
        found[name] = list(words.text(name)), list(words.text_list(name)), words.has(name).tolist()
    return found


def assert_equal(bodies, names=NAMES):
    side, each = Words.read(bodies), Words.of_maps(as_maps(bodies))
    assert len(side) == len(each) == len(bodies)
    assert said(side, names) == said(each, names)
    for chosen in ([True] * len(bodies), [place % 3 == 0 for place in range(len(bodies))], [False] * len(bodies)):
        assert said(side.chosen(chosen), names) == said(each.chosen(chosen), names)


@pytest.mark.parametrize("seed", range(20))
def test_bodies_with_anything_in_them(seed):
    dice = random.Random(seed)
    bodies = [None if dice.random() < 0.2 else body(dice, NAMES) for _ in range(200)]
    bodies += [msgpack.packb((2, {"topic": "of another version"})), msgpack.packb((1, {"topic": "more"}, 3))]
    assert_equal(bodies)


def test_bodies_with_many_entries_and_names():
    dice = random.Random(1)
    names = [f"name {number:03}" for number in range(200)]
    assert_equal([body(dice, dice.sample(names, dice.randrange(30))) for _ in range(300)], names)


def test_texts_alone_are_not_unpacked(monkeypatch):
    """What most bodies hold costs no object but the text that is asked for."""
    monkeypatch.setattr("beliefbase.projections.words.unpack_all_trusted", lambda raws: [1 / 0 for _ in raws])
    words = Words.read([None, *(msgpack.packb((1, {"topic": "ä", "verbatim": text})) for text in TEXTS)])
    assert list(words.text("verbatim")) == [None, *TEXTS]


def test_nothing_that_was_asked_for_is_one_value():
    assert isinstance(Words.read([msgpack.packb((1, {"topic": "t"}))]).text("verbatim"), Same)
    assert said(Words.read([]), ("topic",)) == {"here": [], "topic": ([], [], [])}
    assert list(Words.read([None, None]).text("topic")) == [None, None]
