"""Every recipe of the cookbook runs, and answers something."""

import re
from pathlib import Path

import pytest
from tests.events.build import START_MS, Author
from tests.projections.worlds import World, open_log

from beliefbase.projections.projector import Projector
from beliefbase.projections.query import query

DAY = 86_400_000
PAGE = (Path(__file__).parents[2] / "docs" / "cookbook.md").read_text("utf-8")
RECIPES = re.findall(r"^## (\d+\. .*?)$.*?^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def oddities():
    """Beliefs that no kind fits; one of them is shown, gets stale, and another is withdrawn on the last day."""
    author = Author("extractor")
    phrases = {"kind_misfit": True, "kind_misfit_reason": "no kind fits", "obsolete_when": "it rains"}
    entry = {"assertion_class": "durable_fact", "confidence": 900}
    events = [author.joined("extractor")]
    for policy in ("fast_decay_status", "amendable_persistent", None):
        named = {} if policy is None else {"policy": policy}
        events.append(author.extracted(f"Under {policy}", **phrases, **entry, **named))
    events.append(author.write("memory.injected", {"cards": ({"belief_id": events[1].id},)}))
    late = (START_MS + 8 * DAY + 1) << 16
    return [*events, author.write("belief.retracted", {"belief_id": events[3].id, "reason": "no more"}, hlc=late)]


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cookbook")
    log = open_log(folder, World(5, 900).events)
    log.append(oddities())
    with Projector(log, folder / "read") as projector:
        projector.refresh(START_MS + 9 * DAY)
        projector.publish()
    log.close()
    return folder / "read"


def test_there_are_twenty():
    assert [name.partition(".")[0] for name, _ in RECIPES] == [str(number) for number in range(1, 21)]
    assert len(re.findall(r"^## ", PAGE, re.MULTILINE)) == 20


@pytest.mark.parametrize("sql", [sql for _, sql in RECIPES], ids=[name for name, _ in RECIPES])
def test_a_recipe_answers(read, sql):
    answer = query(read, sql)
    assert answer.rows
    assert len(set(answer.columns)) == len(answer.columns)


@pytest.mark.parametrize("sql", [sql for _, sql in RECIPES], ids=[name for name, _ in RECIPES])
def test_a_recipe_has_one_answer(read, sql):
    assert "ORDER BY" in sql
    assert query(read, sql, threads=1).rows == query(read, sql, threads=2).rows
