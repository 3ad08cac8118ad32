"""Read models in memory: lives kept up to date by the product's refolding, without DuckDB, and compared with a fold."""

import hashlib

from beliefbase.beliefs.dependents import refold
from beliefbase.beliefs.fold import fold
from beliefbase.projections.reading import Reader
from beliefbase.projections.source import LogSource


class Mirror:
    """Follows a log as the projector does: new rows behind the last position, refolded; or everything anew."""

    def __init__(self):
        self.forget()

    def forget(self):
        """Start from nothing, as after the read models were deleted."""
        self.position = self.newest = 0
        self.reworded = None
        self.lives = {}
        self.notes = {}
        self.joined = set()

    def refresh(self, log):
        """Take in what is new."""
        events = [stored for page in log.read(self.position, words=False) for stored in page]
        reworded = log.reworded()
        if not events and reworded == self.reworded:
            return
        fresh = [stored.event for stored in events]
        reader = Reader(log)
        facts = reader.facts(fresh)
        firsts = [event.skeleton.writer for event in fresh if event.skeleton.seq == 1]
        renamed = len(set(firsts)) < len(firsts) or self.joined.intersection(firsts)
        anew = reworded != self.reworded or renamed or not self.position
        changed = None if anew else refold(LogSource(log, reader), facts, horizon=self.newest, erased=log.erased())
        if changed is None or changed.everything:
            self.lives, self.notes = folded(log)
        else:
            for belief in changed.gone:
                self.lives.pop(belief, None)
            self.lives.update((life.id, summary(life)) for life in changed.lives.values())
            for event, notes in changed.notes.items():
                self.notes.pop(event, None)
                if notes:
                    self.notes[event] = noted(notes)
        self.reworded = reworded
        self.joined.update(firsts)
        if events:
            self.position = events[-1].position
            self.newest = max(self.newest, *(event.skeleton.hlc for event in fresh))

    def differences(self, log):
        """Beliefs and events about which a fold of the whole log says something else."""
        lives, notes = folded(log)
        mine = self.notes
        found = [
            f"belief {i.hex()[:8]}"
            for i in sorted(lives.keys() | self.lives.keys())
            if lives.get(i) != self.lives.get(i)
        ]
        return found + [
            f"note {i.hex()[:8]}" for i in sorted(notes.keys() | mine.keys()) if notes.get(i) != mine.get(i)
        ]


def facts_of(log):
    """All usable events of a log as facts."""
    return Reader(log).facts([stored.event for page in log.read(words=False) for stored in page])


def folded(log):
    """Lives and notes of a whole log."""
    return told(fold(facts_of(log), erased=log.erased()))


def told(result):
    """Lives and notes of a fold, in a form that compares."""
    notes = {}
    for note in result.notes:
        notes.setdefault(note.event, []).append(note)
    lives = {life.id: summary(life) for life in result.lives.values()}
    return lives, {event: noted(found) for event, found in notes.items()}


def summary(life):
    """All that the read models show of a life."""
    return (life.faces, tuple(life.intervals), tuple(life.affirmed or ()), tuple(life.promotions or ()))


def noted(notes):
    """Remarks about one event, in order."""
    return sorted((str(note.reason), note.about or b"") for note in notes)


def digest(lives, notes):
    """One digest over lives and notes."""
    return hashlib.sha256(repr((sorted(lives.items()), sorted(notes.items()))).encode()).hexdigest()
