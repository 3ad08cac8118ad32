"""Make the golden log of a format version: everything that a log can hold, from a seed.

A released one is never made again. Run: python tests/golden/make.py tests/golden/v1/everything.bblog
and, for those that must fail: python tests/golden/make.py --bad tests/golden/damaged
"""

import base64
import json
import sys
import tempfile
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.events.build import Author
from tests.projections.worlds import World, open_log
from tests.replay.tampering import erase, flipped

from beliefbase.events.envelope import FORMAT
from beliefbase.events.erasure import covered
from beliefbase.replay import golden
from beliefbase.replay.portable import write_log

SEED = 20_261_130
EVENTS = 270


class Orderly(World):
    """A world in which every writer's stamps grow, as they do for real; between writers they stay out of order."""

    def write(self, type_name, fields, **more):
        author = self.dice.choice(self.authors)
        self.ms += self.dice.randrange(200_000)
        late = (self.dice.random() < 0.2) * self.dice.randrange(3_000_000)
        self.last[author] = max(self.last.get(author, 0) + 1, (self.ms - late) << 16 | self.dice.randrange(3))
        fields = {name: value for name, value in fields.items() if value is not None}
        event = author.write(type_name, fields, hlc=self.last[author], **more)
        self.events.append(event)
        return event.id

    def __init__(self, *arguments):
        self.last = {}
        super().__init__(*arguments)


def events():
    """The events of the log, and those among them that come late."""
    world = Orderly(SEED, EVENTS)
    cloned, late, newer, erasing = (Author(name, ms=world.ms) for name in ("cloned", "late", "newer", "erasing"))
    first = [
        cloned.joined("dora"),
        cloned.extracted("before the clone", assertion_class="durable_fact", confidence=900),
    ]
    end = (world.ms + 10_000_000) << 16
    said = cloned.said("Words of kim's.", subjects=("kim",))
    read = cloned.extracted("What kim said.", evidence=(said.id,))
    twin = cloned.fork()
    return [
        *world.events,
        *first,
        said,
        read,
        cloned.retracted(first[1].id, cause="wrong"),
        twin.superseded(first[1].id, world.beliefs[0]),
        twin.said("after the clone"),
        late.joined("emil"),
        late.write("belief.retracted", {"belief_id": world.beliefs[1]}, hlc=late.ms + 5 << 16),
        late.write("writer.closed", {}, hlc=late.ms + 9 << 16),
        newer.joined("from a newer release"),
        newer.write("belief.imagined", {}, payload={"dream": 1}),
        newer.write("belief.affirmed", {}, payload={"belief_id": world.beliefs[0]}, version=9),
        newer.write("belief.affirmed", {}, payload={"belief_id": world.beliefs[0], "mood": "good"}),
        newer.write("belief.affirmed", {}, payload={"belief_id": world.beliefs[0]}, format=FORMAT + 1),
        erasing.joined("owner"),
        erasing.write("subject.erased", {"subject": "kim"}, hlc=end),
    ]


def make_bad_ones(folder):
    """Two that must fail: one with a bit flipped in its third event, one with digests of another log."""
    ann = Author()
    with tempfile.TemporaryDirectory() as scratch, closing(open_log(Path(scratch))) as log:
        log.append([ann.joined(), ann.said("one"), ann.extracted("two"), ann.said("three")])
        for name in ("flipped", "other-digests"):
            write_log(log, folder / f"{name}.bblog")
            golden.update(folder / f"{name}.bblog")
    lines = (folder / "flipped.bblog").read_text("ascii").splitlines()
    skeleton, *words = lines[4].split(" ")
    raw = flipped(base64.b64decode(skeleton), 900)
    lines[4] = " ".join([base64.b64encode(raw).decode("ascii"), *words])
    (folder / "flipped.bblog").write_text("\n".join([*lines, ""]), "ascii")
    kept = folder / "other-digests.digests.json"
    values = json.loads(kept.read_text("utf-8"))
    values["digests"][0]["digest"] = values["digests"][0]["tables"]["belief_facts"] = "0" * 64
    kept.write_text(json.dumps(values, indent=1) + "\n", "utf-8")


def main(path):
    with tempfile.TemporaryDirectory() as folder, closing(open_log(Path(folder))) as log:
        log.merge(events())
        erase(Path(folder), covered(log))
        print(write_log(log, path), "events")
    print(golden.update(path).as_text())


if __name__ == "__main__":
    make_bad_ones(Path(sys.argv[2])) if sys.argv[1] == "--bad" else main(Path(sys.argv[1]))
