"""Builds events for tests of the log: real skeletons, with writers, salts and stamps that are the same each time."""

import hashlib

from beliefbase.events.catalog import CATALOG
from beliefbase.events.envelope import FORMAT, Event, Skeleton, encode_body
from beliefbase.events.ids import ZERO_HASH, commitment, skeleton_hash

START_MS = 1_700_000_000_000


def writer_id(name):
    """The 16 bytes that stand for a writer with this name in a test."""
    return hashlib.sha256(f"writer {name}".encode()).digest()[:16]


class Author:
    """One writer's stream; ``fork()`` makes another that goes on from the same event, as a cloned disk would."""

    def __init__(self, name="ann", *, writer=None, seq=0, prev=ZERO_HASH, ms=START_MS, mark=""):
        self.writer = writer or writer_id(name)
        self.seq = seq
        self.prev = prev
        self.ms = ms
        self.mark = mark

    def fork(self, mark="fork"):
        return Author(writer=self.writer, seq=self.seq, prev=self.prev, ms=self.ms, mark=self.mark + mark)

    def write(self, type_name, fields, *, basis=None, hlc=None, format=FORMAT, version=None, payload=None):
        """The next event of this stream."""
        draft = CATALOG.draft(type_name, fields) if payload is None else None
        words = dict(draft.words) if draft else {}
        if self.mark and words:
            words["mark"] = self.mark
        body = encode_body(dict(sorted(words.items()))) if words else None
        salt = hashlib.sha256(f"{self.writer.hex()} {self.seq} {self.mark}".encode()).digest()[:16] if words else None
        self.seq += 1
        self.ms += 1
        raw = Skeleton(
            format=format,
            writer=self.writer,
            seq=self.seq,
            prev=self.prev,
            hlc=self.ms << 16 if hlc is None else hlc,
            recorded=len(self.mark),
            type=type_name,
            version=version or (draft.version if draft else 1),
            touches=draft.touches if draft else (),
            basis=tuple(sorted(basis or (draft.basis if draft else None) or ())),
            source_ref=draft.source_ref if draft else None,
            payload=draft.payload if draft else payload,
            subjects=(draft.subjects or ()) if draft else (),
            commitment=None if body is None else commitment(salt, body),
        ).encode()
        self.prev = skeleton_hash(raw)
        return Event(raw, salt, body)

    def joined(self, agent="ann", **fields):
        return self.write("writer.joined", {"agent": agent, **fields})

    def said(self, verbatim="It rains.", **fields):
        return self.write("utterance.recorded", {"speaker": "will", "verbatim": verbatim, **fields})

    def extracted(self, statement="It rains.", **fields):
        return self.write("belief.extracted", {"statement": statement, "kind": "fact", **fields})

    def retracted(self, belief, basis=(), **fields):
        return self.write("belief.retracted", {"belief_id": belief, **fields}, basis=basis)

    def superseded(self, old, new, basis=()):
        return self.write("belief.superseded", {"superseded_id": old, "superseding_id": new}, basis=basis)

    def merged(self, duplicate, survivor, basis=()):
        return self.write("belief.merged", {"duplicate_id": duplicate, "surviving_id": survivor}, basis=basis)

    def affirmed(self, belief, basis=()):
        return self.write("belief.affirmed", {"belief_id": belief}, basis=basis)

    def raised(self, left, right):
        return self.write("contradiction.raised", {"left": left, "right": right})

    def resolved(self, contradiction, outcome="left", basis=()):
        return self.write(
            "contradiction.resolved", {"contradiction_id": contradiction, "outcome": outcome}, basis=basis
        )

    def utterances(self, count):
        return [self.said(f"Sentence {number} of {self.seq}.") for number in range(count)]
