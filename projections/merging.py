"""Copies and entities: events of one type and source_ref are one, shown under the earliest id (DESIGN 3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from beliefbase.beliefs.facts import Fact
from beliefbase.beliefs.lookups import Source
from beliefbase.events.catalog import Role
from beliefbase.projections.batch import Batch
from beliefbase.projections.columns import keys_of, loadable, shown, texts
from beliefbase.projections.copies import PROJECTION as COPIES
from beliefbase.projections.loading import event_tables, tables_with_entities
from beliefbase.projections.work import WorkDatabase

_COPIES = COPIES.TABLES[0]


class Copy(NamedTuple):
    """A later event of an entity."""

    id: bytes
    entity: bytes
    """Id of the earliest."""
    type: str
    agent: bytes
    hlc: int


def copies_of(source: Source, facts: Iterable[Fact]) -> list[Copy]:
    """All copies of the entities that these facts belong to, themselves included where they are copies."""
    refs = {(fact.type, fact.ref) for fact in facts if fact.ref is not None}
    if not refs:
        return []
    groups: dict[tuple[str, bytes], list[Fact]] = {}
    for fact in source.naming({ref for _, ref in refs if ref is not None}, (Role.SELF,)):
        if fact.ref is not None and (fact.type, fact.ref) in refs:
            groups.setdefault((fact.type, fact.ref), []).append(fact)
    return [
        Copy(fact.id, min(group).id, fact.type, fact.agent, fact.hlc)
        for group in groups.values()
        for fact in sorted(group)[1:]
    ]


class Names:
    """Source refs of all events of a log while it is read; finds the copies without holding the names in memory."""

    def __init__(self, work: WorkDatabase) -> None:
        self._work = work
        work.connection.execute(
            "CREATE TEMP TABLE named (type VARCHAR, ref VARCHAR, hlc BIGINT, writer VARCHAR, seq BIGINT, id VARCHAR,"
            " agent VARCHAR)"
        )

    def add(self, events: Batch) -> None:
        """Take note of the events that have a source_ref."""
        named = events.referred
        if not len(named):
            return
        batch = {
            "ref": loadable("VARCHAR", named.refs),
            "hlc": named.stamps,
            "writer": loadable("VARCHAR", named.writers),
            "seq": loadable("BIGINT", named.seqs),
            "id": shown(named.ids),
            "agent": loadable("VARCHAR", named.agents),
        }
        with self._work.registered("batch", batch):
            self._work.connection.execute(
                "INSERT INTO named SELECT ?, ref, hlc, writer, seq, id, agent FROM batch", [named.type]
            )

    def copies(self) -> list[Copy]:
        """All copies."""
        found = self._work.rows(
            "SELECT id, entity, type, agent, hlc FROM (SELECT *,"
            " first_value(id) OVER (PARTITION BY type, ref ORDER BY hlc, writer, seq, id) AS entity FROM named"
            " WHERE (type, ref) IN (SELECT (type, ref) FROM named GROUP BY type, ref HAVING count(*) > 1))"
            " WHERE id <> entity ORDER BY id"
        )
        self._work.connection.execute("DROP TABLE named")
        return [
            Copy(bytes.fromhex(id_), bytes.fromhex(entity), type_, bytes.fromhex(agent), hlc)
            for id_, entity, type_, agent, hlc in found
        ]


def note_copies(work: WorkDatabase, copies: list[Copy]) -> None:
    """Bring the table of copies up to date, and everything that showed a copy as itself."""
    if not copies:
        return
    ids = {copy.id for copy in copies}
    work.delete([_COPIES], ids | {copy.entity for copy in copies})
    copy_ids, entity_ids = texts([copy.id.hex() for copy in copies]), texts([copy.entity.hex() for copy in copies])
    work.insert(
        _COPIES,
        {
            "row_key": keys_of([copy.id for copy in copies]),
            "copy_id": copy_ids,
            "entity_id": entity_ids,
            "type": [copy.type for copy in copies],
            "agent_hash": [copy.agent.hex() for copy in copies],
            "copied_hlc": [copy.hlc for copy in copies],
        },
    )
    work.delete(event_tables({copy.type for copy in copies}), ids)
    with work.registered("noted", {"copy_id": copy_ids, "entity_id": entity_ids}):
        resolve(work, "noted")


def resolve(work: WorkDatabase, copies: str) -> None:
    """In every table, show what names a copy under the entity's id."""
    for table in tables_with_entities():
        for column in table.columns:
            if column.entity:
                work.connection.execute(
                    f"UPDATE {table.name} SET {column.name} = c.entity_id FROM {copies} c"
                    f" WHERE {table.name}.{column.name} = c.copy_id"
                )
