"""The policy of conventions and decisions that stand until amended."""

from beliefbase.beliefs.policies.base import Policy

POLICY = Policy(
    name="amendable_persistent@1",
    summary="Doesn't age; stands until it is superseded, contradicted or retracted.",
    decay="none",
)
