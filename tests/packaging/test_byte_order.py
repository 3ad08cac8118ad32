"""No byte that is stored, hashed or compared depends on the byte order of the machine."""

import ast
from pathlib import Path

import pytest

from beliefbase.events.codec import pack
from beliefbase.events.frontier import bucket_hash
from beliefbase.events.hlc import Stamp
from beliefbase.events.index import key_of
from beliefbase.events.log import Head

ROOT = Path(__file__).parents[2]
FOLDERS = ("events", "beliefs", "projections", "replay", "src/beliefbase")
SOURCES = sorted({path.resolve() for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")})


def calls(tree, *names):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if called in names:
                yield node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_conversion_to_and_from_bytes_says_its_order(path):
    tree = ast.parse(path.read_text("utf-8"))
    for call in calls(tree, "Struct"):
        assert ast.literal_eval(call.args[0]).startswith(">"), ast.unparse(call)
    for call in calls(tree, "to_bytes", "from_bytes"):
        own = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) in {"self", "cls", "Stamp"}
        assert own or any(getattr(one, "value", None) == "big" for one in call.args), ast.unparse(call)
    for call in calls(tree, "frombuffer"):
        kind = next(one.value for one in call.keywords if one.arg == "dtype")
        told = ast.unparse(kind).strip("'")
        assert told.startswith(">") or told.endswith(("uint8", "S1", "bool_")), ast.unparse(call)


def test_bytes_are_these_on_every_machine():
    assert pack((1, 258, -129, 2**40, b"\x01", "é")).hex() == "9601cd0102d1ff7fcf0000010000000000c40101a2c3a9"
    assert Stamp(2**40, 1, bytes(range(16))).to_bytes().hex() == ("0100000000000001" + bytes(range(16)).hex())
    assert key_of(bytes.fromhex("8000000000000001ff")) == -(2**63) + 1
    assert bucket_hash([Head(b"w" * 16, 258, bytes(32))]).hex() == (
        "98991c2473fdb1f1cd353c1b69ed69d0accd78d66a0d122a9771664142ce3905"
    )
