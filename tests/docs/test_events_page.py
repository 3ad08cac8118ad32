"""docs/events.md is what the catalogue says, and the catalogue explains all that it has."""

import importlib.util
from pathlib import Path

import pytest

from beliefbase.events import limits
from beliefbase.events.catalog import CATALOG

DOCS = Path(__file__).parents[2] / "docs"


def generator():
    spec = importlib.util.spec_from_file_location("generate_events", DOCS / "generate_events.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = generator()
PAGE = (DOCS / "events.md").read_text(encoding="utf-8")


def models():
    """Every model of the catalogue, the parts of payloads included."""
    found = {}
    for model in CATALOG.models.values():
        found[model.TYPE] = model
        found.update({f"{model.TYPE} {inner.__name__}": inner for inner in GENERATOR._inner(model)})
    return found


def test_the_page_is_up_to_date():
    assert PAGE == GENERATOR.render(), "docs/events.md is out of date: run docs/generate_events.py"


@pytest.mark.parametrize("model", models().values(), ids=models())
def test_every_type_and_field_has_a_meaning(model):
    assert model.__doc__
    assert model.__doc__.strip().endswith(".")
    texts = GENERATOR._docstrings(model)
    missing = [name for name in model.model_fields if len(texts.get(name, "")) < 4]
    assert missing == []


@pytest.mark.parametrize("name", CATALOG.models)
def test_every_type_and_field_is_on_the_page(name):
    section = PAGE.split(f"\n## {name}\n", maxsplit=1)[1].split("\n## ", maxsplit=1)[0]
    fields = CATALOG.models[name].model_fields.keys() - {"source_ref", "basis", "subjects"}
    assert [field for field in fields if f"| `{field}` |" not in section] == []


def test_every_limit_is_on_the_page():
    named = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert [name for name, value in named.items() if f"| {name} | {value:,} |" not in PAGE] == []


def test_the_check_fails_on_another_page(tmp_path, monkeypatch):
    module = generator()
    module.TARGET = tmp_path / "events.md"
    module.TARGET.write_text(PAGE + "more", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["generate_events.py", "--check"])
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code not in (0, None)
    monkeypatch.setattr("sys.argv", ["generate_events.py"])
    module.main()
    assert module.TARGET.read_text(encoding="utf-8") == PAGE
