"""Which rows curves are made from, by logs worked out by hand, and that SQL and Python draw the same curves."""

import math

import lifelines
import pytest
from tests.events.build import START_MS, Author
from tests.projections.worlds import AS_OF_MS, World, open_log

from beliefbase.projections import lifetimes
from beliefbase.projections.errors import QueryFailed, QueryRefused
from beliefbase.projections.projector import Projector
from beliefbase.projections.query import connect, query
from beliefbase.projections.survival import CAUSES, ENDS, cumulative_incidence, kaplan_meier

DAY = 86_400_000
ACTIVE = {"assertion_class": "durable_fact", "confidence": 900}
LASTING = {**ACTIVE, "policy": "amendable_persistent"}
CANDIDATE = {"confidence": 500, "policy": "amendable_persistent"}


def day(number, counter=0):
    """A stamp so many days after the start."""
    return (START_MS + round(number * DAY)) << 16 | counter


class Log:
    """Events by hand: each method takes the day first."""

    def __init__(self):
        self.events = []
        self.authors = {}
        self.join("ann")

    def join(self, agent, at=0, **fields):
        author = self.authors[agent] = Author(agent)
        self.events.append(author.write("writer.joined", {"agent": agent, **fields}, hlc=day(at)))

    def write(self, at, type_name, by="ann", **fields):
        event = self.authors[by].write(type_name, fields, hlc=at if at > 1 << 40 else day(at))
        self.events.append(event)
        return event.id

    def extract(self, at, by="ann", **fields):
        fields = {"kind": "fact", **(fields or LASTING)}
        return self.write(at, "belief.extracted", by, statement=f"Statement {len(self.events)}.", **fields)

    def tick(self, at):
        """Something that names no belief."""
        self.write(at, "question.raised", question="Is anybody there?")


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def rows(tmp_path):
    """Entry, exit (in days) and cause of each belief's rows, by belief."""

    def ask(log, *, as_of=1000, active=False):
        folder = tmp_path / f"{len(log.events)} events"
        if not folder.exists():
            project(folder, log.events, START_MS + 1000 * DAY)
        found = {}
        answer = query(
            folder / "read",
            "SELECT belief_id, entry_ms, exit_ms, cause FROM watched_spells_at($ts, $active) ORDER BY ALL",
            {"ts": START_MS + round(as_of * DAY), "active": active},
        )
        for belief, entry, exit_, cause in answer.rows:
            found.setdefault(bytes.fromhex(belief), []).append((entry / DAY, exit_ / DAY, cause))
        return found

    return ask


def project(folder, events, as_of_ms):
    log = open_log(folder, events)
    with Projector(log, folder / "read") as projector:
        projector.refresh(as_of_ms)
        projector.publish()
    log.close()


class TestRows:
    def test_a_life_runs_from_its_extraction_to_its_end_or_to_the_last_stamp(self, log, rows):
        old, new = log.extract(1), log.extract(11)
        log.write(11, "belief.superseded", superseded_id=old, superseding_id=new)
        log.tick(20)
        assert rows(log) == {old: [(0, 10, "superseded")], new: [(0, 9, "censored")]}

    @pytest.mark.parametrize(
        "as_of, expected",
        [(4.5, (0, 3.5, "censored")), (5, (0, 4, "censored")), (10, (0, 9, "superseded")), (12, (0, 9, "superseded"))],
    )
    def test_nothing_after_the_moment_counts_and_watching_ends_at_the_last_stamp_up_to_it(
        self, log, rows, as_of, expected
    ):
        old, new = log.extract(1), log.extract(3)
        log.tick(4.5)
        log.tick(5)
        log.write(10, "belief.superseded", superseded_id=old, superseding_id=new)
        assert rows(log, as_of=as_of)[old] == [expected]

    def test_a_later_spell_enters_late_and_ages_go_on_from_the_extraction(self, log, rows):
        belief = log.extract(0)
        ending = log.write(3, "belief.retracted", belief_id=belief)
        log.write(7, "belief.reinstated", belief_id=belief, undoes=(ending,))
        log.tick(10)
        assert rows(log)[belief] == [(0, 3, "retracted"), (7, 10, "censored")]
        assert rows(log, as_of=5)[belief] == [(0, 3, "retracted")]

    def test_a_life_that_began_ended_enters_where_watching_could_begin(self, log, rows):
        belief = log.extract(2)
        ending = log.write(1, "belief.retracted", belief_id=belief)
        log.write(6, "belief.reinstated", belief_id=belief, undoes=(ending,))
        log.tick(9)
        assert rows(log)[belief] == [(4, 7, "censored")]

    def test_promotion_enters_late_and_demotion_censors_in_curves_of_actives_only(self, log, rows):
        belief = log.extract(0, **CANDIDATE)
        log.write(5, "belief.promoted", belief_id=belief)
        log.write(8, "belief.demoted", belief_id=belief)
        log.write(9, "belief.promoted", belief_id=belief)
        log.write(12, "belief.retracted", belief_id=belief)
        never = log.extract(0, **CANDIDATE)
        log.tick(20)
        assert rows(log) == {belief: [(0, 12, "retracted")], never: [(0, 20, "censored")]}
        assert rows(log, active=True) == {belief: [(5, 8, "censored"), (9, 12, "retracted")]}
        assert rows(log, active=True, as_of=6) == {belief: [(5, 5, "censored")]}

    def test_every_cause(self, log, rows):
        ended = {cause: log.extract(0) for cause in ("superseded", "duplicate", "contradicted", "retracted")}
        winner = log.extract(0)
        ended["obsolete"] = log.extract(0, **ACTIVE, policy="conditional_expiry", condition_key="release")
        ended["expired"] = log.extract(0, **ACTIVE, policy="fast_decay_status")
        log.write(1, "belief.superseded", superseded_id=ended["superseded"], superseding_id=winner)
        log.write(2, "belief.merged", duplicate_id=ended["duplicate"], surviving_id=winner)
        raised = log.write(2, "contradiction.raised", left=ended["contradicted"], right=winner)
        log.write(3, "contradiction.resolved", contradiction_id=raised, outcome="right")
        log.write(4, "belief.retracted", belief_id=ended["retracted"])
        log.write(5, "condition.met", condition_key="release")
        log.tick(30)
        ages = {"superseded": 1, "duplicate": 2, "contradicted": 3, "retracted": 4, "obsolete": 5, "expired": 14}
        expected = {belief: [(0, ages[cause], cause)] for cause, belief in ended.items()}
        assert rows(log) == {**expected, winner: [(0, 30, "censored")]}

    def test_expiry_counts_only_as_far_as_somebody_wrote(self, log, rows):
        belief = log.extract(0, **ACTIVE, policy="fast_decay_status")
        log.tick(13)
        assert rows(log, as_of=100)[belief] == [(0, 13, "censored")]
        log.tick(14)
        assert rows(log, as_of=100)[belief] == [(0, 14, "expired")]

    def test_an_import_is_watched_to_its_importers_last_stamp(self, log, rows):
        log.join("importer", kind="importer")
        imported, later = log.extract(1, "importer"), log.extract(2, "importer")
        log.write(5, "question.raised", "importer", question="Why?")
        own = log.extract(4)
        log.tick(50)
        assert rows(log) == {
            imported: [(0, 4, "censored")],
            later: [(0, 3, "censored")],
            own: [(0, 46, "censored")],
        }
        assert rows(log, as_of=3)[imported] == [(0, 1, "censored")]

    def test_an_import_is_watched_to_the_last_event_that_names_the_belief(self, log, rows):
        log.join("importer", kind="importer")
        beliefs = [log.extract(1, "importer") for _ in range(6)]
        shown, used, judged, ended, other, input_ = beliefs
        keyed = log.extract(1, "importer", **ACTIVE, policy="conditional_expiry", condition_key="go")
        card = log.write(10, "memory.injected", cards=({"belief_id": shown}, {"belief_id": used}))
        log.write(12, "memory.used", injection_id=card, belief_id=used, outcome="used")
        verdicts = ({"other": judged, "relation": "unrelated"},)
        log.write(13, "judgement.recorded", about=other, judge="rule@1", verdicts=verdicts)
        log.write(14, "belief.retracted", belief_id=ended)
        conclusion = log.extract(15)
        log.write(15, "conclusion.derived", belief_id=conclusion, inputs=({"belief_id": input_, "role": "supporting"},))
        log.write(16, "condition.met", condition_key="go")
        log.tick(50)
        found = rows(log)
        assert [found[belief] for belief in (*beliefs, keyed)] == [
            [(0, 9, "censored")],
            [(0, 11, "censored")],
            [(0, 12, "censored")],
            [(0, 13, "retracted")],
            [(0, 12, "censored")],
            [(0, 14, "censored")],
            [(0, 15, "obsolete")],
        ]
        assert rows(log, as_of=11)[used] == [(0, 9, "censored")]

    def test_an_import_whose_expiry_nobody_watched_is_censored(self, log, rows):
        log.join("importer", kind="importer")
        belief = log.extract(0, "importer", **ACTIVE, policy="fast_decay_status")
        log.write(2, "question.raised", "importer", question="Why?")
        log.tick(50)
        assert rows(log)[belief] == [(0, 2, "censored")]

    def test_labels_are_those_of_the_extraction(self, log, tmp_path):
        log.join("bob", model="parrot-2")
        belief = log.extract(0, "bob", speech_act="observation", kind="note", **ACTIVE)
        log.write(
            1, "belief.reclassified", belief_id=belief, kind="fact", speech_act="directive", policy="fast_decay_status"
        )
        log.tick(2)
        project(tmp_path, log.events, START_MS + 10 * DAY)
        answer = query(tmp_path / "read", "SELECT kind, speech_act, policy, agent, model FROM watched_spells")
        assert answer.rows == [("note", "observation", "half_life@1", "bob", "parrot-2")]


class TestLifetimes:
    @pytest.fixture
    def read(self, log, tmp_path):
        for number in range(12):
            belief = log.extract(0, kind="rule" if number % 3 else "note", **LASTING)
            if number < 8:
                log.write(number + 1, "belief.retracted", belief_id=belief)
        instant = log.extract(day(9))
        log.write(day(9, 1), "belief.retracted", belief_id=instant)
        log.tick(20)
        project(tmp_path, log.events, START_MS + 30 * DAY)
        return tmp_path / "read"

    def test_curves_by_hand(self, read):
        with lifetimes.lifetimes(read, as_of_ms=START_MS + 30 * DAY) as lives:
            found = lives.compare()
        (curve,) = found.curves
        assert found.unwatched == 1
        assert [(p.age_ms / DAY, p.at_risk, p.ended) for p in curve.points if p.ended] == [
            (number, 13 - number, 1) for number in range(1, 9)
        ]
        assert curve.median_ms == 6 * DAY
        assert curve.survival_at(20 * DAY) == pytest.approx(1 / 3)
        assert found.horizon_ms == 20 * DAY
        assert curve.rmean_ms == pytest.approx((sum(range(1, 9)) + 4 * 20) / 12 * DAY)

    def test_groups_are_compared_up_to_an_age_that_all_of_them_reach(self, read):
        with lifetimes.lifetimes(read, as_of_ms=START_MS + 30 * DAY) as lives:
            found = lives.compare("kind")
            assert [curve.group for curve in found.curves] == ["note", "rule"]
            assert all(curve.rmean_ms is not None for curve in found.curves)
            assert found.test.dof == 1
            assert lives.spells(lifetimes.KIND_AND_ACT).labels == (
                "note × direct_assertion",
                "rule × direct_assertion",
            )

    def test_a_condition_chooses_beliefs(self, read):
        with lifetimes.lifetimes(read, as_of_ms=START_MS + 30 * DAY, where="kind = 'note'") as lives:
            assert lives.spells("kind").labels == ("note",)

    @pytest.mark.parametrize(
        "where, error", [("no_such_column", QueryFailed), ("true); SELECT (1", QueryRefused), ("(", QueryFailed)]
    )
    def test_what_is_no_condition_is_refused(self, read, where, error):
        with pytest.raises(error), lifetimes.lifetimes(read, as_of_ms=0, where=where):
            pass

    def test_a_store_without_beliefs_has_no_spells(self, tmp_path):
        project(tmp_path, [Author().joined()], AS_OF_MS)
        with lifetimes.lifetimes(tmp_path / "read", as_of_ms=AS_OF_MS) as lives:
            assert len(lives.spells()) == 0
            assert lives.compare("kind").curves == ()
            assert lives.compare().horizon_ms is None


@pytest.fixture(scope="module", params=range(3))
def world(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"world-{request.param}")
    events = World(request.param, 500).events
    project(folder, events, AS_OF_MS + 200 * DAY)
    return folder / "read", events


@pytest.mark.parametrize("at", [AS_OF_MS, START_MS + 5_000_000, AS_OF_MS + 200 * DAY])
def test_the_last_stamp_is_that_of_the_log(world, at):
    read, events = world
    (row,) = query(read, "SELECT max(last_hlc) FROM writer_stamps_at($ts)", {"ts": at}).rows
    assert row[0] == max(event.skeleton.hlc for event in events if event.skeleton.hlc >> 16 <= at)


@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize("by", [None, *lifetimes.GROUPINGS])
def test_sql_and_python_draw_the_same_curves(world, by, active):
    read, _ = world
    at = AS_OF_MS + 200 * DAY
    with connect(read) as connection:
        lives = lifetimes.of(connection, as_of_ms=at, active=active)
        curves, ends = kaplan_meier(lives.spells(by)), cumulative_incidence(lives.spells(by))
        asked = {"by": by or "all", "ts": at, "active": active}
        drawn = connection.execute(
            "SELECT * EXCLUDE (grouped_by) FROM invalidation_curves([$by], $ts, $active) ORDER BY group_name, age_ms",
            asked,
        ).fetchall()
        told = connection.execute(
            "SELECT * EXCLUDE (grouped_by) FROM cumulative_incidences([$by], $ts, $active)"
            " ORDER BY group_name, cause, age_ms",
            asked,
        ).fetchall()
    points = [(curve.group, *point) for curve in curves for point in curve.points]
    assert points
    assert [row[:6] for row in drawn] == [point[:6] for point in points]
    for row, point in zip(drawn, points, strict=True):
        assert row[6:] == pytest.approx(point[6:], abs=1e-9)
    expected = sorted(
        (one.group, cause, point.age_ms, point.at_risk, point.ended, survival, point.incidence)
        for one in ends
        for cause, of_cause in one.causes.items()
        for point, survival in zip(of_cause.points, one.survival.tolist(), strict=True)
    )
    assert [row[:5] for row in told] == [row[:5] for row in expected]
    for row, line in zip(told, expected, strict=True):
        assert row[5:] == pytest.approx(line[5:], abs=1e-9)


@pytest.mark.parametrize(
    "view", ["invalidation_curve", "cumulative_incidence", "telemetry_by_group", "distribution_report"]
)
def test_views_are_the_same_for_every_number_of_threads(world, view):
    read, _ = world
    answers = [query(read, f"SELECT * FROM {view} ORDER BY ALL", threads=threads).rows for threads in (1, 2, 4)]
    assert answers[0]
    assert answers[0] == answers[1] == answers[2]


def test_survival_and_incidences_sum_to_one(world):
    read, _ = world
    sums = query(
        read,
        "SELECT max(abs(1 - s - f)) FROM (SELECT max(survival) AS s, sum(incidence) AS f"
        " FROM cumulative_incidence GROUP BY grouped_by, group_name, age_ms) AS at_each_age",
    ).rows
    assert sums[0][0] < 1e-9


def test_curves_agree_with_lifelines_on_the_same_rows(world):
    read, _ = world
    at = AS_OF_MS + 200 * DAY
    with lifetimes.lifetimes(read, as_of_ms=at) as lives:
        spells = lives.spells()
    ended = [CAUSES[code] in ENDS for code in spells.cause]
    other = lifelines.KaplanMeierFitter().fit(spells.exit_ms, ended, entry=spells.entry_ms)
    (curve,) = kaplan_meier(spells)
    for point in curve.points:
        if point.ended:
            assert math.isclose(point.survival, other.survival_function_at_times(point.age_ms).iloc[0], abs_tol=1e-9)
