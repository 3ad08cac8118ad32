"""The inspector on random pasts: it agrees with the fold of the whole log, about every belief and at any moment."""

import random

import pytest
from tests.cli.world import DAY, World
from tests.scale import scaled

from beliefbase.beliefs.fold import fold
from beliefbase.inspector.case import Case
from beliefbase.inspector.decisions import Reading
from beliefbase.inspector.desk import Desk
from beliefbase.inspector.explain import explain
from beliefbase.inspector.history import history
from beliefbase.inspector.reasons_text import why_text
from beliefbase.inspector.rendering import explanation_text, history_text
from beliefbase.inspector.sentences import sentences
from beliefbase.inspector.why import why

ACTS = ("direct_assertion", "directive", "correction", "hypothetical", "humor_or_irony", "casual_characterization")
UNKNOWN = "ab" * 16
START = 1_700_006_400_000


class Past:
    """Random revisions of a few beliefs by three agents, with inverted stamps, dangling ids and empty bases."""

    def __init__(self, world, seed, *, events):
        self.r = random.Random(seed)
        self.beliefs, self.endings, self.contradictions, self.injections = [], [], [], []
        self.days = dict.fromkeys(("ann", "bob", "cid"), 0)
        with world.store(importing=True) as ann, world.store(importing=True) as bob, world.store(importing=True) as cid:
            stores = {"ann": ann, "bob": bob, "cid": cid}
            self.writers = [store.writer(name, kind="importer") for name, store in stores.items()]
            for _ in range(3):
                self.extract()
            for _ in range(events):
                getattr(self, self.r.choice(STEPS))()

    @property
    def writer(self):
        """Each agent's clock runs by itself, so stamps are inverted and equal across agents."""
        self.chosen = self.r.choice(self.writers)
        self.days[self.chosen.agent] += self.r.choice((0, 0, 2, 5, 15))
        return self.chosen

    def common(self):
        fields = {"at": START + self.days[self.chosen.agent] * DAY}
        if self.r.random() < 0.3:
            fields["basis"] = []
        return fields

    @property
    def belief(self):
        return self.r.choice([*self.beliefs, UNKNOWN] if self.r.random() < 0.2 else self.beliefs)

    def extract(self):
        strong = {"assertion_class": "durable_fact", "confidence": 900} if self.r.random() < 0.6 else {}
        act = {"speech_act": self.r.choice(ACTS), "speech_act_confidence": self.r.choice((300, 900))}
        key = {"policy": "conditional_expiry", "condition_key": "k"} if self.r.random() < 0.1 else {}
        more = {**strong, **act, **key, "evidence": [UNKNOWN]}
        self.beliefs.append(self.writer.extract(f"No. {len(self.beliefs)}", kind="note", **more, **self.common()))

    def affirm(self):
        how = self.r.choice(("confirmation", "recurrence", "review"))
        self.writer.affirm(self.belief, how=how, session=self.r.choice(("s", "t")), **self.common())

    def mature(self):
        getattr(self.writer, self.r.choice(("promote", "demote")))(self.belief, **self.common())

    def supersede(self):
        self.endings.append((one := self.belief, self.writer.supersede(one, by=self.belief, **self.common())))

    def merge(self):
        self.endings.append((one := self.belief, self.writer.merge(one, into=self.belief, **self.common())))

    def retract(self):
        self.endings.append((one := self.belief, self.writer.retract(one, **self.common())))

    def meet(self):
        self.writer.meet_condition(key="k", **self.common())

    def reclassify(self):
        self.writer.reclassify(self.belief, speech_act=self.r.choice((*ACTS, "question")), **self.common())

    def reinstate(self):
        if self.endings:
            belief, ending = self.r.choice(self.endings)
            self.writer.reinstate(belief, undoes=[ending], **self.common())

    def contradict(self):
        self.contradictions.append(self.writer.raise_contradiction(self.belief, self.belief, **self.common()))

    def resolve(self):
        if self.contradictions:
            outcome = self.r.choice(("left", "right", "both_hold", "neither"))
            self.writer.resolve(self.r.choice(self.contradictions), outcome, **self.common())

    def conclude(self):
        self.writer.conclude(self.belief, inputs=[{"belief_id": self.belief, "role": "essential"}], **self.common())

    def inject(self):
        shown = self.writer.inject([self.belief], session=self.r.choice(("s", "t")), at=self.common()["at"])
        self.writer.use(shown, self.belief, "used", at=self.common()["at"])


STEPS = (
    *("supersede",) * 4,
    *("affirm", "mature", "contradict", "reinstate") * 2,
    *("extract", "merge", "retract", "meet", "reclassify", "resolve", "conclude", "inject"),
)


def compare(world, seed, *, events=25):
    past = Past(world, seed, events=events)
    compared = 0
    with world.store() as store:
        desk = Desk(store.log)
        facts = desk.source._reader.facts(stored.event for page in store.log.read() for stored in page)
        whole = fold(facts)
        for belief in past.beliefs:
            life = whole.of(bytes.fromhex(belief))
            told = history(Case(desk, life.id, None), world.now)
            shown = [(row["from_hlc"], row["status"], row["flags"]) for row in told["intervals"]]
            flags = ("stale", "contested", "forked")
            assert shown == [
                (row.since, row.status, [flag for flag in flags if getattr(row, flag)]) for row in life.intervals
            ]
            assert len(history_text(told).splitlines()) > len(shown)
            for day in (0, 5, 20, 35, 60, 100, 400):
                at_ms = START + day * DAY
                row = life.at((at_ms << 16) | 0xFFFF)
                if row is None:
                    continue
                case = Case(desk, life.id, at_ms)
                told = explain(case)
                told["sentences"] = sentences(told)
                assert (told["status"], told["flags"]) == (row.status, [flag for flag in flags if getattr(row, flag)])
                assert all(line and "None" not in line for line in explanation_text(told).splitlines())
                if row.contested:
                    assert any(one["contests"] for one in (*told["contradictions"], *told["waiting"]))
                if row.forked:
                    assert len(told["fork"]) > 1
                if row.status not in {"candidate", "active", "expired"}:
                    assert told["endings"][0]["as"] == row.status
                if row.status == "candidate" and told["maturity"]["mature"]:
                    assert told["conclusion"]["lacking"]
                assert set(told["basis"]) == {key.hex() for key in Reading(case).basis} or case.life.into is not None
                assert belief in why_text(why(Case(desk, life.id, at_ms)))
                compared += 1
    return compared


@pytest.mark.parametrize("seed", range(6))
def test_the_inspector_agrees_with_the_fold_of_the_whole_log(tmp_path, monkeypatch, seed):
    assert compare(World(tmp_path / "store", monkeypatch), seed) > 0


@pytest.mark.slow
def test_the_inspector_agrees_with_the_fold_of_the_whole_log_on_many_pasts(tmp_path, monkeypatch):
    for seed in range(100, 100 + scaled(60)):
        world = World(tmp_path / f"store{seed}", monkeypatch)
        assert compare(world, seed, events=10 + seed % 50) > 0
