"""A small story of three agents on one store: what was said, what is believed, and the proof of it.

The planner hears an offhand remark. Two days later the reviewer hears its speaker correct it. The archivist's clock
is a day behind and its event comes last, stamped between the two. The answers change as they should, and the digest
is that of the same events in any other order.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beliefbase.store import BeliefStore
from beliefbase.writing import clock_text

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
Say = Callable[[str], None]


class Story:
    """The agents, each with a clock of its own, and the ids of what they recorded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = START
        self.ids: dict[str, str] = {}

    def agent(self, *, behind: timedelta = timedelta()) -> BeliefStore:
        """A process of its own with a clock that may be behind."""
        return BeliefStore.open(self.path, create=True, wall=lambda: int((self.now - behind).timestamp()) * 1000)

    def first_day(self) -> None:
        """The planner hears a remark and a rule."""
        with self.agent() as store:
            planner = store.writer("planner")
            remark = planner.record_utterance(
                "I'd call it roughly 75% hobby, 25% utility", speaker="Mara", conversation="kick-off", topic="scope"
            )
            self.ids["hobby"] = planner.extract(
                "The project is roughly 75% hobby",
                kind="fact",
                evidence=[remark],
                speech_act="casual_characterization",
                speech_act_confidence=910,
                confidence=700,
            )
            rule = planner.record_utterance(
                "Always keep the raw transcript, whatever we derive from it", speaker="Mara", conversation="kick-off"
            )
            self.ids["rule"] = planner.extract(
                "Raw transcripts are always kept",
                kind="rule",
                evidence=[rule],
                speech_act="directive",
                speech_act_confidence=950,
                assertion_class="durable_fact",
                confidence=930,
            )

    def third_day(self) -> None:
        """The reviewer hears the speaker correct the remark."""
        self.now = START + 2 * DAY
        with self.agent() as store:
            reviewer = store.writer("reviewer")
            said = reviewer.record_utterance("Actually it's 50/50 by now", speaker="Mara", conversation="review")
            self.ids["half"] = reviewer.extract(
                "The project is half hobby, half utility",
                kind="fact",
                evidence=[said],
                speech_act="correction",
                speech_act_confidence=940,
                assertion_class="durable_fact",
                confidence=900,
            )
            reviewer.supersede(self.ids["hobby"], by=self.ids["half"], cause="correction", reason="the speaker said so")

    def late(self) -> None:
        """The archivist, whose clock is a day behind, withdraws the rule: an event stamped before what is stored."""
        self.now = START + 2 * DAY + timedelta(hours=1)
        with self.agent(behind=DAY) as store:
            archivist = store.writer("archivist")
            archivist.retract(self.ids["rule"], cause="withdrawn", reason="storage was declined by the owner")


def run(say: Say) -> dict[str, Any]:
    """Tell the story in a temporary store; returns what was found, for ``--json``."""
    with tempfile.TemporaryDirectory(prefix="beliefbase-demo-") as folder:
        story = Story(Path(folder) / "store")
        story.first_day()
        story.third_day()
        before = _show(story, say, "Before the late event")
        story.late()
        say("A late event comes in: the archivist's clock is a day behind.")
        after = _show(story, say, "After the late event")
        return {"before": before, "after": after, **_prove(story, Path(folder), say)}


def _show(story: Story, say: Say, title: str) -> dict[str, Any]:
    with BeliefStore.open(story.path) as store:
        say(f"\n== {title}")
        say("What was appended:")
        for line in _told(store):
            say(f"  {line}")
        answers = {}
        for day, moment in (
            ("on the second day", START + DAY + timedelta(hours=2)),
            ("on the fourth day", START + 3 * DAY),
        ):
            rows = store.live(as_of=moment)
            say(f"What is believed {day} ({moment:%Y-%m-%d}):")
            for row in rows:
                say(f"  [{row['status']:9}] {row['statement']}  ({row['speech_act']}, heard by {row['agent']})")
            answers[f"{moment:%Y-%m-%d}"] = [{"statement": row["statement"], "status": row["status"]} for row in rows]
        return answers


def _told(store: BeliefStore) -> Iterator[str]:
    agents: dict[bytes, str] = {}
    for page in store.log.read():
        for stored in page:
            event, skeleton = stored.event, stored.event.skeleton
            if skeleton.type == "writer.joined":
                agents[skeleton.writer] = event.words["agent"]
                continue
            words = event.words
            text = words.get("verbatim") or words.get("statement") or words.get("reason") or ""
            yield f"{clock_text(skeleton.hlc >> 16)}  {agents[skeleton.writer]:9} {skeleton.type:18} {text}"


def _prove(story: Story, folder: Path, say: Say) -> dict[str, Any]:
    """The audit, and the same digest from a rebuild and from another order of arrival."""
    with BeliefStore.open(story.path) as store:
        report = store.audit()
        live = store.digest()
        store.project(rebuild=True)
        rebuilt = store.digest()
        events = [stored.event for page in store.log.read() for stored in page]
    with BeliefStore.open(folder / "other", create=True) as other:
        other.log.merge(sorted(events, key=lambda event: event.skeleton.hlc))
        in_order = other.digest()
    say("\n== The proof")
    say(report.as_text())
    say(f"The same events in the order of their stamps: {in_order}")
    say(f"Rebuilt from nothing:                         {rebuilt}")
    say("All digests are equal." if live == rebuilt == in_order else "THE DIGESTS DIFFER.")
    return {"audit": report.as_dict(), "digest": live, "rebuilt": rebuilt, "in_order": in_order}
