"""The policy of a belief that names none."""

from beliefbase.beliefs.policies.base import Policy

POLICY = Policy(
    name="half_life@1",
    summary="Ages by the half-life of its speech act and kind; a correction takes that of what it corrects.",
    decay="by_act",
)
