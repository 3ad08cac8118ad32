"""What another release may have written: types, versions and a format that this one doesn't know, and payloads it
can't use."""

from beliefbase.events.codec import pack
from beliefbase.events.envelope import FORMAT, Event, Skeleton, encode_body
from beliefbase.events.ids import ZERO_HASH, commitment, name_hash

SHAPES = ("unknown_type", "later_version", "later_format", "nonsense")


def event(machine, random, entropy):
    """One event of a stream of its own, in a list."""
    writer, seq, prev = entropy(16), 0, ZERO_HASH
    hlc = max(machine.visible_stamp() + 1, machine.wall() << 16)
    beliefs = [one.id for one in machine.held() if one.skeleton.type == "belief.extracted"]
    touched = (random.choice(beliefs),) if beliefs else ()
    shape = random.choice(SHAPES)
    words = {"text": f"later {entropy(5).hex()}"}
    body = encode_body(words)
    salt = entropy(16)
    kind, version, payload = {
        "unknown_type": ("belief.dreamt", 1, {"vivid": True}),
        "later_version": ("belief.retracted", 9, {"belief_id": touched[0]} if touched else {}),
        "later_format": ("", 1, {}),
        "nonsense": ("belief.retracted", 1, {"cause": "wrong"}),
    }[shape]
    skeleton = Skeleton(
        format=FORMAT,
        writer=writer,
        seq=seq + 1,
        prev=prev,
        hlc=hlc,
        recorded=0,
        type=kind,
        version=version,
        touches=() if shape == "nonsense" else touched,
        basis=(),
        source_ref=None,
        payload=payload,
        subjects=(name_hash(random.choice(("ines", "mara", "otto"))),),
        commitment=commitment(salt, body),
    )
    if shape == "later_format":
        raw = pack((FORMAT + 1, writer, seq + 1, prev, hlc, "what only a later release knows", skeleton.commitment))
    else:
        raw = skeleton.encode()
    return [Event(raw, salt, body)]
