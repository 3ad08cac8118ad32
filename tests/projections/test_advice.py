"""What lifetimes say about policies, and that they say nothing where there is not enough evidence."""

import numpy as np
import pytest

from beliefbase.beliefs.rules import Profile
from beliefbase.projections import advice
from beliefbase.projections.survival import Spells, kaplan_meier

DAY = 86_400_000


def advise(exits, causes, label="fact × observation", **more):
    rows = Spells.read([0] * len(exits), [round(days * DAY) for days in exits], causes, [label] * len(exits))
    (found,) = advice.of_spells(rows, **more)
    return found


class TestEnough:
    def test_a_median_becomes_a_half_life_with_its_interval(self):
        days = list(range(10, 60))
        found = advise(days, ["superseded"] * 50)
        (curve,) = kaplan_meier(Spells.read([0] * 50, [day * DAY for day in days], [1] * 50))
        assert (found.policy, found.half_life_days, found.reason) == ("half_life@1", 34, "median")
        assert (found.lower_days, found.upper_days) == (curve.median_lower_ms / DAY, curve.median_upper_ms / DAY)
        assert (found.at_risk, found.ended, found.spells) == (26, 50, 50)
        assert found.current_days == 90

    def test_what_ends_within_days_gets_the_fast_policy(self):
        found = advise(np.linspace(1, 9, 40), ["superseded"] * 40)
        assert (found.policy, found.half_life_days, found.reason) == ("fast_decay_status@1", 7, "within_days")
        assert found.lower_days < found.median_days < found.upper_days < 7

    def test_ends_at_one_age_give_a_median_without_an_interval(self):
        found = advise([5] * 10, ["superseded"] * 10)
        assert (found.policy, found.median_days, found.lower_days) == ("fast_decay_status@1", 5, None)

    def test_what_mostly_ends_by_its_condition_gets_the_conditional_policy(self):
        found = advise(range(10, 60), ["obsolete"] * 26 + ["superseded"] * 24)
        assert (found.policy, found.half_life_days, found.reason) == ("conditional_expiry@1", None, "mostly_obsolete")

    def test_what_holds_for_long_gets_the_persistent_policy(self):
        found = advise([5, 6, 7] + [400] * 60, ["retracted"] * 3 + ["censored"] * 60)
        assert (found.policy, found.half_life_days, found.reason) == ("amendable_persistent@1", None, "holds")
        assert (found.lower_days, found.upper_days) == (400, None)

    def test_no_end_at_all_among_many_is_evidence_as_well(self):
        assert advise([400] * 60, ["censored"] * 60).reason == "holds"

    def test_where_beliefs_expired_the_curve_is_read_up_to_the_age_of_expiry(self):
        found = advise([20] * 12 + [180] * 60 + [700] * 40, ["retracted"] * 12 + ["expired"] * 60 + ["censored"] * 40)
        assert (found.policy, found.half_life_days, found.reason) == ("half_life@1", 180, "holds_until_expiry")
        assert found.trusted_days == 180

    def test_the_profile_in_force_says_what_is_now(self):
        profile = Profile("quick@1", {"observation": 12})
        assert advise(range(10, 60), ["superseded"] * 50, profile=profile).current_days == 12
        assert advise(range(10, 60), ["superseded"] * 50, "goal × observation").current_days is None


class TestNotEnough:
    def test_expiry_is_no_evidence_for_a_half_life(self):
        found = advise([180] * 200, ["expired"] * 200, "note × uncertain_assertion")
        assert (found.policy, found.half_life_days, found.reason) == (None, None, "too_few_ends")
        assert found.expired_share == 1

    def test_a_median_that_only_affirmed_beliefs_reach_is_none(self):
        days = [180] * 60 + list(range(181, 241))
        found = advise(days, ["expired"] * 60 + ["retracted"] * 60)
        assert found.reason != "median"
        assert found.trusted_days == 180

    @pytest.mark.parametrize(
        "exits, causes, reason",
        [
            ([5] * 9, ["retracted"] * 9, "too_few_ends"),
            ([3] * 20, ["censored"] * 20, "too_few_ends"),
            (
                list(range(1, 11)) + [11] * 12 + [50],
                ["retracted"] * 10 + ["censored"] * 12 + ["retracted"],
                "too_few_at_risk",
            ),
        ],
    )
    def test_few_ends_or_few_at_risk(self, exits, causes, reason):
        found = advise(exits, causes)
        assert (found.policy, found.reason) == (None, reason)
        assert advice.SENTENCES[found.reason].startswith("not enough evidence")


def test_suggestions_with_evidence_become_an_alternative():
    rows = Spells.read(
        [0] * 150,
        [day * DAY for day in (*range(10, 60), *([400] * 60), *([3] * 40))],
        ["superseded"] * 50 + ["censored"] * 100,
        ["note × observation"] * 50 + ["fact × directive"] * 60 + ["rule × directive"] * 40,
    )
    assert advice.alternative(advice.of_spells(rows)) == {
        "policies": [{"policy": "note_observation@1", "base": "half_life", "half_life_days": 34}],
        "assign": [
            {"kind": "fact", "speech_act": "directive", "policy": "amendable_persistent@1"},
            {"kind": "note", "speech_act": "observation", "policy": "note_observation@1"},
        ],
    }
