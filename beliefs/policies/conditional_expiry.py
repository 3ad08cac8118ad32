"""The policy of a belief that holds until something happens."""

from beliefbase.beliefs.policies.base import Policy

POLICY = Policy(
    name="conditional_expiry@1",
    summary="Doesn't age; ends as obsolete when the condition it stands under is met.",
    decay="none",
    ends_on_condition=True,
)
