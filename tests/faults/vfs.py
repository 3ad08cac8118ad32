"""A layer between the very SQLite that Python's sqlite3 module calls and the disk; nothing above it is replaced.

SQLite asks a table of functions (a VFS) for everything that it does with files. This one is the system's with some
calls led through a watcher, which sees them in order and may make one fail. It is the default while it is installed, so
whatever opens a database then, the log and the library's recorder included, uses it unknowingly.

HAZARD: only files that are opened while it is installed are watched; close them before it is taken out.
"""

import _sqlite3
import ctypes
import os
import sqlite3
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path

OK, BUSY, FULL = 0, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL
FAILURES = {
    "read": sqlite3.SQLITE_IOERR_READ,
    "write": sqlite3.SQLITE_IOERR_WRITE,
    "truncate": sqlite3.SQLITE_IOERR_TRUNCATE,
    "sync": sqlite3.SQLITE_IOERR_FSYNC,
    "size": sqlite3.SQLITE_IOERR_FSTAT,
    "open": sqlite3.SQLITE_CANTOPEN,
    "delete": sqlite3.SQLITE_IOERR_DELETE,
    "lock": sqlite3.SQLITE_IOERR_LOCK,
    "shm map": sqlite3.SQLITE_IOERR_SHMMAP,
    "shm lock": sqlite3.SQLITE_IOERR_SHMLOCK,
}
"""The calls that a watcher sees, with how each of them fails where the disk does."""

CREATE, SHM_UNLOCK = 4, 1

_File = POINTER(c_void_p)
_Vfs = c_void_p

X_CLOSE = CFUNCTYPE(c_int, _File)
X_READ = CFUNCTYPE(c_int, _File, c_void_p, c_int, c_int64)
X_WRITE = CFUNCTYPE(c_int, _File, c_void_p, c_int, c_int64)
X_TRUNCATE = CFUNCTYPE(c_int, _File, c_int64)
X_SYNC = CFUNCTYPE(c_int, _File, c_int)
X_SIZE = CFUNCTYPE(c_int, _File, POINTER(c_int64))
X_LOCK = CFUNCTYPE(c_int, _File, c_int)
X_SHM_MAP = CFUNCTYPE(c_int, _File, c_int, c_int, c_int, c_void_p)
X_SHM_LOCK = CFUNCTYPE(c_int, _File, c_int, c_int, c_int)
# Names by address: SQLite keeps the parameters of a URI in the memory around them.
X_OPEN = CFUNCTYPE(c_int, _Vfs, c_void_p, _File, c_int, POINTER(c_int))
X_DELETE = CFUNCTYPE(c_int, _Vfs, c_void_p, c_int)
X_SLEEP = CFUNCTYPE(c_int, _Vfs, c_int)


class Methods(Structure):
    """``sqlite3_io_methods``, version 3; the calls that nobody watches are plain addresses."""

    _fields_ = [
        ("version", c_int),
        ("close", X_CLOSE),
        ("read", X_READ),
        ("write", X_WRITE),
        ("truncate", X_TRUNCATE),
        ("sync", X_SYNC),
        ("size", X_SIZE),
        ("lock", X_LOCK),
        *((name, c_void_p) for name in ("unlock", "reserved", "control", "sector", "characteristics")),
        ("shm_map", X_SHM_MAP),
        ("shm_lock", X_SHM_LOCK),
        *((name, c_void_p) for name in ("shm_barrier", "shm_unmap", "fetch", "unfetch")),
    ]


class Vfs(Structure):
    """``sqlite3_vfs``, version 3."""

    _fields_ = [
        ("version", c_int),
        ("file_size", c_int),
        ("path_size", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", X_OPEN),
        ("delete", X_DELETE),
        *((name, c_void_p) for name in ("access", "full_path", "dl_open", "dl_error", "dl_sym", "dl_close", "random")),
        ("sleep", X_SLEEP),
        *((name, c_void_p) for name in ("time", "last_error", "time64", "set_call", "get_call", "next_call")),
    ]


class Watcher:
    """Sees calls. What ``before`` returns instead of 0 is what the call returns, without being made."""

    def before(self, call, path):
        """A call of :data:`FAILURES` is about to be made."""
        return OK

    def opened(self, path, new):
        """A database or one of its files was opened."""

    def wrote(self, path, offset, data):
        """Bytes were written."""

    def truncated(self, path, size):
        """A file was cut."""

    def synced(self, path):
        """The disk said that it keeps what was written to a file."""

    def deleted(self, path, durably):
        """A file was deleted."""


def library():
    """The SQLite that Python's module is linked to; None where it can't be reached."""
    try:
        found = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        found.sqlite3_vfs_find.restype = POINTER(Vfs)
        found.sqlite3_sourceid.restype = c_char_p
        found.sqlite3_vfs_register.argtypes = [POINTER(Vfs), c_int]
        source = found.sqlite3_sourceid().decode()
    except (AttributeError, OSError):
        return None
    same = sqlite3.connect(":memory:").execute("SELECT sqlite_source_id()").fetchone()[0] == source
    return found if same and found.sqlite3_vfs_find(None).contents.version == 3 else None


class _Layer:
    """The functions; one for the whole process, since SQLite may hold on to them."""

    def __init__(self, sqlite):
        self.sqlite = sqlite
        self.watcher = Watcher()
        self.paths = {}
        """The file behind the address of each open one."""
        self.system = sqlite.sqlite3_vfs_find(None)
        self.vfs = Vfs.from_buffer_copy(self.system.contents)
        self.vfs.name = b"watched"
        self.vfs.open, self.vfs.delete = X_OPEN(self.open), X_DELETE(self.delete)
        self.vfs.sleep = X_SLEEP(lambda _vfs, micros: micros)  # a busy handler waits in no time
        self.tables = {}
        """Our table of methods for each of the system's, which has several kinds of file."""
        self.calls = None

    def install(self, watcher):
        self.watcher = watcher
        assert self.sqlite.sqlite3_vfs_register(ctypes.byref(self.vfs), 1) == OK

    def remove(self):
        self.sqlite.sqlite3_vfs_unregister(ctypes.byref(self.vfs))
        assert self.sqlite.sqlite3_vfs_register(self.system, 1) == OK

    # -- the calls -----------------------------------------------------------------------------------------------------

    def open(self, vfs, name, file, flags, out):
        path = os.fsdecode(ctypes.string_at(name)) if name else ""
        if path and (code := self.watcher.before("open", path)):
            file[0] = None  # SQLite closes a file that has methods, opened or not
            return code
        new = bool(path) and bool(flags & CREATE) and not Path(path).exists()
        code = self.system.contents.open(vfs, name, file, flags, out)
        if code == OK and path:
            address = ctypes.addressof(file.contents)
            self.paths[address] = path
            file[0] = ctypes.addressof(self._table(file[0]))
            self.watcher.opened(path, new)
        return code

    def delete(self, vfs, name, durably):
        path = os.fsdecode(ctypes.string_at(name))
        code = self.watcher.before("delete", path) or self.system.contents.delete(vfs, name, durably)
        if code == OK:
            self.watcher.deleted(path, bool(durably))
        return code

    def _table(self, address):
        if address in self.tables:
            return self.tables[address][0]
        system = Methods.from_address(address)
        ours = Methods.from_buffer_copy(system)
        watcher = lambda: self.watcher
        path = lambda file: self.paths[ctypes.addressof(file.contents)]

        def close(file):
            self.paths.pop(ctypes.addressof(file.contents))
            return system.close(file)

        def read(file, buffer, amount, offset):
            return watcher().before("read", path(file)) or system.read(file, buffer, amount, offset)

        def write(file, buffer, amount, offset):
            code = watcher().before("write", path(file)) or system.write(file, buffer, amount, offset)
            if code == OK:
                watcher().wrote(path(file), offset, ctypes.string_at(buffer, amount))
            return code

        def truncate(file, size):
            code = watcher().before("truncate", path(file)) or system.truncate(file, size)
            if code == OK:
                watcher().truncated(path(file), size)
            return code

        def sync(file, flags):
            # The disk beneath the tests need not be asked: what it would keep is the watcher's to say.
            code = watcher().before("sync", path(file))
            if code == OK:
                watcher().synced(path(file))
            return code

        def size(file, result):
            return watcher().before("size", path(file)) or system.size(file, result)

        def lock(file, level):
            return watcher().before("lock", path(file)) or system.lock(file, level)

        def shm_map(file, region, amount, extend, result):
            return watcher().before("shm map", path(file)) or system.shm_map(file, region, amount, extend, result)

        def shm_lock(file, offset, count, flags):
            fails = OK if flags & SHM_UNLOCK else watcher().before("shm lock", path(file))  # releasing can't fail
            return fails or system.shm_lock(file, offset, count, flags)

        for name, function in locals().copy().items():
            if name in FAILURES or name in {"close", "shm_map", "shm_lock"}:
                setattr(ours, name, dict(Methods._fields_)[name](function))
        self.tables[address] = ours, system
        return ours


_LIBRARY = library()
_LAYER = None
AVAILABLE = _LIBRARY is not None


@contextmanager
def watched(watcher):
    """Lead the file calls of everything that is opened in the block through a watcher."""
    global _LAYER  # noqa: PLW0603  SQLite may call it as long as the process lives
    _LAYER = _LAYER or _Layer(_LIBRARY)
    _LAYER.install(watcher)
    try:
        yield watcher
    finally:
        _LAYER.remove()
        _LAYER.watcher = Watcher()
