"""The policy of status notes, which are soon out of date."""

from beliefbase.beliefs.policies.base import Policy

POLICY = Policy(
    name="fast_decay_status@1",
    summary="Has a half-life of 7 days, whatever the speech act and kind.",
    decay="days",
    days=7,
)
