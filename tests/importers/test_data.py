"""The published conversations and transcripts beside the repository: imported whole, with the counts that are known."""

from collections import Counter
from pathlib import Path

import pytest

from beliefbase.importers.run import import_files
from beliefbase.store import BeliefStore

DATA = Path(__file__).parents[2].parent / "shared" / "data"

LOCOMO = {
    "conv-26": (19, 419, 184),
    "conv-30": (19, 369, 169),
    "conv-41": (32, 663, 324),
    "conv-42": (29, 629, 266),
    "conv-43": (29, 680, 267),
}
"""Sessions, utterances, extractions."""
LONG = "ae4a77f8-aedd-4bc1-888f-c94edc91af04"
CLAUDE_CODE = {
    f"{LONG}.jsonl": (2385, 2359, 249, 408, 7, 158, 242),
    f"{LONG}/subagents/agent-aac57f5.jsonl": (40, 40, 13, 15, 1, 3, 12),
    f"{LONG}/subagents/agent-acompact-946d2b.jsonl": (2, 2, 1, 1, 1, 1, 0),
    "subagent.jsonl": (96, 93, 20, 28, 4, 7, 16),
    "tool_heavy.jsonl": (39, 34, 13, 9, 7, 1, 6),
    "short.jsonl": (15, 14, 4, 5, 2, 1, 2),
    "simonw_sample_session.jsonl": (8, 7, 4, 3, 2, 2, 2),
}
"""Lines, with uuid, user and assistant lines, of these with text, tool calls (and as many results)."""
COUNTED = (
    "lines",
    "with uuid",
    "user lines",
    "assistant lines",
    "user lines with text",
    "assistant lines with text",
    "tool calls",
)


def data(name):
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    return folder


@pytest.fixture
def store(tmp_path):
    BeliefStore.open(tmp_path / "store", create=True).close()
    return tmp_path / "store"


def skeletons(path):
    with BeliefStore.open(path) as store:
        return [stored.event.skeleton for page in store.log.read(words=False) for stored in page]


def test_locomo_conversations_are_imported_whole_and_twice_is_once(store):
    folder = data("locomo")
    report = import_files(store, [folder])
    for file in report.files:
        sessions, utterances, extractions = LOCOMO[Path(file.file).stem]
        counts = [file.counts.get(name, 0) for name in ("sessions", "utterances", "extractions", "dangling evidence")]
        assert counts == [sessions, utterances, extractions, 0]
        assert (file.stored, file.existing) == (utterances + extractions, 0)
        assert not any(name.startswith(("malformed", "repeated")) for name in file.counts)
    assert len(report.files) == len(LOCOMO)
    stored = skeletons(store)
    cited = {key for skeleton in stored for key in skeleton.payload.get("evidence", ())}
    assert cited <= {skeleton.source_ref for skeleton in stored}
    assert Counter(skeleton.type for skeleton in stored)["writer.joined"] == 10

    again = import_files(store, [folder])
    assert sum(file.stored for file in again.files) == 0
    assert len(skeletons(store)) == len(stored)


def test_claude_code_transcripts_are_imported_whole_and_twice_is_once(store):
    folder = data("claude_code_sessions")
    report = import_files(store, [folder])
    found = {str(Path(file.file).relative_to(folder)): file for file in report.files}
    assert found.keys() == CLAUDE_CODE.keys()
    for name, expected in CLAUDE_CODE.items():
        counts = found[name].counts
        assert expected == tuple(counts.get(counted, 0) for counted in COUNTED)
        assert counts.get("tool results", 0) == expected[-1]
        assert found[name].stored == counts["utterances"] == expected[4] + expected[5]
    stored = skeletons(store)
    again = import_files(store, [folder])
    assert sum(file.stored for file in again.files) == 0
    assert len(skeletons(store)) == len(stored)


def test_no_line_is_stamped_before_its_parent(store):
    """By the source's own ids: file order is not time order there, and some children are stamped earlier."""
    import json

    from beliefbase.events.ids import name_hash

    folder = data("claude_code_sessions")
    import_files(store, [folder])
    stamps = {skeleton.source_ref: skeleton.hlc for skeleton in skeletons(store) if skeleton.source_ref}
    checked = 0
    for path in sorted(folder.rglob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        named = [line for line in lines if "uuid" in line]
        parents = {line["uuid"]: line.get("parentUuid") or line.get("logicalParentUuid") for line in named}
        for uuid, parent in parents.items():
            child = stamps.get(name_hash(f"claude-code:{uuid}"))
            seen = set()
            while parent in parents and parent not in seen and name_hash(f"claude-code:{parent}") not in stamps:
                seen.add(parent)
                parent = parents[parent]  # lines that say nothing have no stamp
            before = stamps.get(name_hash(f"claude-code:{parent}")) if parent in parents else None
            if child is not None and before is not None:
                assert before < child
                checked += 1
    assert checked > 100
