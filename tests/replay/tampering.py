"""Ways to tamper with a store behind its back, and small stores to do it to."""

import hashlib
import sqlite3
from contextlib import closing

import msgpack
from tests.events.build import Author
from tests.projections.worlds import AS_OF_MS, World, open_log

from beliefbase.events.envelope import Skeleton
from beliefbase.events.ids import name_hash
from beliefbase.events.log import Head
from beliefbase.events.signing import AgentKey, Trust
from beliefbase.projections.projector import Projector

FIELDS = Skeleton._fields


def tamper(folder, *statements):
    """Run SQL on a store's log as somebody with the file in hands would: triggers dropped, and restored."""
    with closing(sqlite3.connect(folder / "log.db", isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        connection.execute("BEGIN")
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement, *parameters in statements:
            connection.execute(statement, parameters)
        for _, sql in triggers:
            connection.execute(sql)
        connection.execute("COMMIT")


def erase(folder, ids):
    """Take the words of these events out of a store, as an erasure leaves it."""
    tamper(folder, *(("DELETE FROM words WHERE event_id = ?", event_id) for event_id in ids))


def edit(folder, *statements):
    """Change the live read models behind the projector's back."""
    with closing(open_log(folder)) as log, Projector(log, folder / "read") as projector:
        for statement in statements:
            projector.rows(statement)


def project(folder, *, publish=True):
    with closing(open_log(folder)) as log, Projector(log, folder / "read") as projector:
        projector.refresh(AS_OF_MS)
        if publish:
            projector.publish()


def store(folder, events):
    """A store with these events, projected and published."""
    open_log(folder, events).close()
    project(folder)
    return folder


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def field_ends(raw):
    """Of each field of a skeleton, the offset of its last byte."""
    ends, offset = {}, 1
    for name, value in zip(FIELDS, msgpack.unpackb(raw, use_list=False), strict=True):
        offset += len(msgpack.packb(value))
        ends[name] = offset - 1
    return ends


def in_order(events):
    """Worlds stamp at random; here every writer's stamps grow, as they do for real."""
    last = {}
    for event in events:
        skeleton = event.skeleton
        assert last.get(skeleton.writer, -1) < skeleton.hlc
        last[skeleton.writer] = skeleton.hlc
    return events


def many_writers(count, of_each, keys=None):
    """Events of many short streams that talk about each other; with ``keys`` these writers can sign."""
    authors = [Author(f"writer {number}", ms=1_700_000_000_000 + number * 1000) for number in range(count)]
    events = [
        author.joined(f"agent {number % 5}", **({} if keys is None else keys.certificate(author.writer, number % 5)))
        for number, author in enumerate(authors)
    ]
    said, beliefs, revised = [], [], []
    for turn in range(of_each - 1):
        for number, author in enumerate(authors):
            kind = (turn + number) % 5
            if kind == 0 or not said:
                event = author.said(f"Sentence {turn} of {number}.")
                said.append(event.id)
            elif kind in (1, 2) or len(beliefs) < 2:
                event = author.extracted(
                    f"Belief {turn} of {number}.", evidence=(said[-1],), source_ref=f"i:{turn}:{number}"
                )
                beliefs.append(event.id)
            elif kind == 3:
                event = author.superseded(beliefs[0], beliefs[-1], basis=revised[-2:])
                revised.append(event.id)
            else:
                event = author.affirmed(beliefs[-1])
            events.append(event)
    return events


def going_on(events):
    """Somebody who goes on with a stream that ends with these events."""
    last = events[-1].skeleton
    return Author(writer=last.writer, seq=last.seq, prev=events[-1].hash, ms=(last.hlc >> 16) + 1)


class Keys:
    """Keys of five agents, and of every writer that asks for a certificate."""

    def __init__(self):
        self.agents = [AgentKey.new(f"agent {number}", bytes([number]) * 32) for number in range(5)]
        self.writers = {}

    def certificate(self, writer, agent):
        self.writers[writer] = self.agents[agent].certify(hashlib.sha256(writer).digest())
        return {"certificate": self.writers[writer].certificate}

    def trust(self):
        return Trust({name_hash(key.agent): frozenset({key.public}) for key in self.agents})

    def signed(self, events):
        """The signed heads of these events' writers."""
        last = {event.skeleton.writer: event for event in events}
        return [
            key.sign(Head(writer, last[writer].skeleton.seq, last[writer].hash))
            for writer, key in self.writers.items()
            if writer in last
        ]


def put_signatures(folder, signed):
    """Write signatures into a store's file as they are, whatever is there."""
    rows = [(one.writer.hex(), *one) for one in signed]
    tamper(
        folder,
        ("DELETE FROM signatures",),
        *(("INSERT INTO signatures VALUES (?, ?, ?, ?, ?)", *row) for row in rows),
    )


def world(seed, events=120):
    return World(seed, events).events
