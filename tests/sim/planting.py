"""Plants a bug into one module of the product as it is imported, in a process of its own: no file is changed.

The patch is that of bench/planted.py: a piece of source, found exactly once whatever its line breaks, becomes another.
"""

import importlib.util
import json
import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Bug(NamedTuple):
    """A planted bug."""

    name: str
    file: str
    old: str
    new: str

    @property
    def module(self):
        """The module as the product imports it."""
        return f"beliefbase.{self.file.removesuffix('.py').replace('/', '.')}"

    def source(self):
        """The module's source with the bug; None where the patch doesn't apply exactly once."""
        return _mutated(self, (ROOT / self.file).read_text("utf-8"))


def _mutated(bug, source):
    spec = importlib.util.spec_from_file_location("planted", ROOT / "bench" / "planted.py")
    planted = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(planted)
    return planted.mutated(planted.Mutant(bug.name, bug.file, bug.old, bug.new), source)


class _Loader(SourceFileLoader):
    def __init__(self, name, path, source):
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname):
        return compile(self._source, self.path, "exec")


class _Finder:
    def __init__(self, bug):
        self._bug = bug
        self._source = bug.source()
        self.used = False

    def find_spec(self, name, path=None, target=None):
        if name != self._bug.module:
            return None
        spec = PathFinder.find_spec(name, path)
        spec.loader = _Loader(name, spec.origin, self._source)
        self.used = True
        return spec


def caught_by(bug, seeds):
    """The first of some seeds whose world fails with the bug, and how; (None, "") where none does.

    The worlds run in a child of this process, which must not have imported the product.
    """
    if any(name.split(".")[0] == "beliefbase" for name in sys.modules):
        raise RuntimeError("the product is imported already: a bug can't be planted any more")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        outcome = {"error": "the child died"}
        try:
            outcome = _look(bug, seeds)
        except BaseException as error:  # noqa: BLE001  whatever ends the child is told
            outcome = {"error": repr(error)}
        finally:
            with os.fdopen(writing, "w") as file:
                json.dump(outcome, file)
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)  # not the end of the pipe: children forked meanwhile hold it open as well
    outcome = json.loads(os.read(reading, 1 << 16))
    os.close(reading)
    if "error" in outcome:
        raise RuntimeError(f"{bug.name}: {outcome['error']}")
    return outcome["seed"], outcome["how"]


def _look(bug, seeds):
    finder = _Finder(bug)
    if finder._source is None:
        return {"error": f"the patch does not apply: {bug.file} holds its text not exactly once"}
    sys.meta_path.insert(0, finder)
    from tests.sim.simulation import run_seed

    found = {"seed": None, "how": ""}
    for seed in seeds:
        failure = run_seed(seed)
        if failure is not None:
            found = {"seed": seed, "how": failure.kind}
            break
    if not finder.used:
        return {"error": f"the simulation never imports {bug.module}"}
    return found
