"""Many msgpack values of one shape, read side by side: a cursor for each, and one step of numpy for all of them.

Bytes that are not what is asked for make a lane fail, and nothing else: what is read of it from then on means nothing,
and its cursor stays within its own bytes. Only what this release writes is known here; of all other encodings, whether
they are valid or not, the reader of single values has to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Octets = npt.NDArray[np.uint8]
"""Values of equal length, one in each row."""

_SPARE: Final = 512
"""Bytes behind the last value: a step may look so far ahead before it asks where the value ends."""
AHEAD: Final = 8
"""Bytes that are looked at to find out which of several tokens may come next."""
_ROUNDS: Final = 24
"""So many different texts are looked for in all lanes at once; lanes with others are read one by one."""
_NIL, _FALSE, _TRUE, _BYTES, _TEXT, _ARRAY, _MAP = 0xC0, 0xC2, 0xC3, 0xC4, 0xD9, 0xDC, 0xDE


def _integer_headers() -> tuple[Ints, Flags, Flags]:
    """By header: how many bytes follow (-1: not an integer's), whether it is signed, and whether it may be large."""
    follow, signed = np.full(256, -1, np.int64), np.zeros(256, np.bool_)
    follow[:0x80] = follow[0xE0:] = 0
    follow[0xCC:0xD4] = 1, 2, 4, 8, 1, 2, 4, 8
    signed[0xD0:0xD4] = True
    large = np.arange(256) == 0xCF
    return follow, signed, large


def _text_headers() -> Ints:
    """By header of a text: how many bytes of its size follow (-1: not a text's)."""
    follow = np.full(256, -1, np.int64)
    follow[0xA0:0xC0] = 0
    follow[0xD9:0xDC] = 1, 2, 4
    return follow


_FOLLOW, _SIGNED, _LARGE = _integer_headers()
_TEXT_FOLLOW = _text_headers()


class Joined:
    """Encoded values of these lengths, one behind the other; the parts that they come in may be of several each."""

    def __init__(self, parts: Iterable[bytes], lengths: Ints) -> None:
        self.octets = b"".join([*parts, bytes(_SPARE)])
        self.bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        self._views: dict[str, Array] = {}

    @classmethod
    def of(cls, raws: Sequence[bytes]) -> Self:
        """Some values."""
        return cls(raws, np.fromiter(map(len, raws), np.int64, len(raws)))

    def lanes(self) -> Lanes:
        """A lane for each value."""
        return Lanes(self, self.bounds[:-1].copy(), self.bounds[1:])

    def every(self, dtype: str) -> Array:
        """The items of a numpy type that begin at each place: to be indexed with cursors."""
        view = self._views.get(dtype)
        if view is None:
            size = np.dtype(dtype).itemsize
            view = self._views[dtype] = np.ndarray(len(self.octets) - size + 1, dtype, self.octets, strides=(1,))
        return view


class Lanes:
    """Cursors ``at`` in joined values, which go up to ``ends``; all that is read moves them on."""

    def __init__(self, joined: Joined, at: Ints, ends: Ints) -> None:
        self._joined = joined
        self.at = at
        self.ends = ends
        self.ok: Flags = np.ones(len(at), np.bool_)
        """Which lanes have not failed."""

    def __len__(self) -> int:
        return len(self.at)

    def part(self, chosen: Array) -> Self:
        """Some of the lanes, to be read apart."""
        return type(self)(self._joined, self.at[chosen], self.ends[chosen])

    def rejoin(self, chosen: Array, part: Lanes) -> None:
        """Go on behind what was read of a :meth:`part`."""
        self.at[chosen] = part.at
        self.ok[chosen] &= part.ok

    def fail(self, where: Flags) -> None:
        """Give lanes up."""
        self.ok &= ~where

    def step(self, size: int | Ints) -> None:
        """Move on by so many bytes, at most to the end."""
        self.at += size
        beyond = self.at > self.ends
        if beyond.any():
            self.ok &= ~beyond
            np.minimum(self.at, self.ends, out=self.at)

    def finish(self) -> None:
        """Nothing may be left."""
        self.fail(self.at != self.ends)

    # -- what stands at the cursors

    def have(self, token: bytes) -> Flags:
        """Where these bytes come next; does not move on."""
        found: Flags = self._joined.every(f"V{len(token)}")[self.at] == np.void(token)
        return found

    def ahead(self) -> Array:
        """The next bytes, as :func:`first_of` gives those of a token; does not move on."""
        return self._joined.every(">u8")[self.at].astype(np.uint64)

    def expect(self, token: bytes) -> None:
        """These bytes."""
        self.fail(~self.have(token))
        self.step(len(token))

    def nil(self) -> Flags:
        """Where nil comes next; moves on over it."""
        nil: Flags = self._heads() == _NIL
        self.step(nil.astype(np.int64))
        return nil

    def octets(self, length: int) -> Octets:
        """Bytes of this length, at most 255."""
        whole = self._joined.every(f"V{length + 2}")[self.at].view(np.uint8).reshape(len(self), length + 2)
        self.fail((whole[:, 0] != _BYTES) | (whole[:, 1] != length))
        self.step(length + 2)
        return whole[:, 2:]

    def flags(self) -> Flags:
        """True or false."""
        heads = self._heads()
        self.fail((heads != _TRUE) & (heads != _FALSE))
        self.step(1)
        true: Flags = heads == _TRUE
        return true

    def integers(self) -> Ints:
        """Integers of less than 2**63."""
        heads = self._heads()
        if len(heads) and (heads == heads[0]).all() and not _FOLLOW[heads[0]]:
            self.step(1)
            return heads.view(np.int8).astype(np.int64)
        follow = _FOLLOW[heads]
        # The 8 bytes behind the header hold the value in their upper part.
        ahead = self._joined.every(">i8")[self.at + 1].astype(np.int64)
        self.fail((follow < 0) | (_LARGE[heads] & (ahead < 0)))
        lower = 64 - 8 * np.clip(follow, 1, 8)
        unsigned = (ahead.view(np.uint64) >> lower.view(np.uint64)).view(np.int64)
        values = np.where(_SIGNED[heads], ahead >> lower, unsigned)
        self.step(1 + np.maximum(follow, 0))
        return np.where(follow > 0, values, heads.view(np.int8))

    def items(self, most: int) -> Ints:
        """The header of a list: how many items follow, up to ``most``; 0 in lanes that fail."""
        return self._count(0x90, _ARRAY, most)

    def entries(self, most: int) -> Ints:
        """The header of a map, likewise."""
        return self._count(0x80, _MAP, most)

    def texts(self) -> tuple[Ints, list[str]]:
        """Texts of less than 256 bytes: the number of each lane's, and the different ones by number."""
        numbers, found = np.zeros(len(self), np.int64), dict[bytes, int]()
        rest = np.flatnonzero(self.ok)
        for _ in range(_ROUNDS):
            if not len(rest):
                break
            token = self._token(int(rest[0]))
            if token:
                found[token] = len(found)
                same = self._joined.every(f"V{len(token)}")[self.at[rest]] == np.void(token)
                numbers[rest[same]] = found[token]
                rest = rest[~same]
            else:
                self.ok[rest[0]] = False
                rest = rest[1:]
        for lane in rest.tolist():
            token = self._token(lane)
            if token:
                numbers[lane] = found.setdefault(token, len(found))
            else:
                self.ok[lane] = False
        sizes = np.array([*map(len, found), 0], np.int64)
        self.step(sizes[numbers])
        return numbers, [_text(token) for token in found]

    def spans(self) -> tuple[Ints, Ints]:
        """Texts of any length: where their bytes begin and end. Whether they are UTF-8 is for who decodes them."""
        heads = self._heads()
        if ((heads & 0xE0) == 0xA0).all():
            follow, sizes = np.zeros(1, np.int64), (heads & 0x1F).astype(np.int64)
        else:
            follow = _TEXT_FOLLOW[heads]
            self.fail(follow < 0)
            # The 4 bytes behind the header hold the size in their upper part.
            behind = self._joined.every(">u4")[self.at + 1].astype(np.int64) >> (32 - 8 * np.clip(follow, 1, 4))
            sizes = np.where(follow > 0, behind, heads & 0x1F)
        start = self.at + 1 + np.maximum(follow, 0)
        self.step(start - self.at + sizes)
        return start, self.at.copy()

    def _heads(self) -> Octets:
        heads: Octets = self._joined.every("u1")[self.at]
        return heads

    def _count(self, short: int, long: int, most: int) -> Ints:
        heads = self._heads()
        is_long = heads == long
        counts = (heads & 0x0F).astype(np.int64)
        if is_long.any():
            counts = np.where(is_long, self._joined.every(">u2")[self.at + 1], counts)
        self.fail(((heads & 0xF0) != short) & ~is_long | (counts > most))
        self.step(np.where(is_long, 3, 1))
        counts[~self.ok] = 0
        return counts

    def _token(self, lane: int) -> bytes | None:
        """A lane's next text with its header; None where none comes next."""
        at, octets = int(self.at[lane]), self._joined.octets
        head = octets[at]
        size = 1 + (head & 0x1F) if head & 0xE0 == 0xA0 else 2 + octets[at + 1] if head == _TEXT else 0
        token = octets[at : at + size]
        try:
            _text(token)
        except UnicodeDecodeError:
            return None
        return token if at + size <= self.ends[lane] else None


def token_of(text: str) -> bytes:
    """How a text of less than 256 bytes is encoded."""
    encoded = text.encode()
    return (bytes([0xA0 | len(encoded)]) if len(encoded) < 0x20 else bytes([_TEXT, len(encoded)])) + encoded


def first_of(token: bytes) -> tuple[int, int]:
    """The first bytes of a token, as many as are read ahead, as an integer, and a mask for them."""
    first = token[:AHEAD]
    mask = (b"\xff" * len(first)).ljust(AHEAD, b"\0")
    return int.from_bytes(first.ljust(AHEAD, b"\0"), "big"), int.from_bytes(mask, "big")


def laid_out(lengths: Ints) -> tuple[Ints, Ints]:
    """Lists of these lengths, laid end to end: which list each item belongs to, and its place in there."""
    owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    return owner, np.arange(len(owner), dtype=np.int64) - (np.cumsum(lengths) - lengths)[owner]


def halves(ids: Octets) -> Array:
    """Ids of 16 bytes, one in each row, as two integers each, which have the order of the ids."""
    return np.ascontiguousarray(ids).view(">u8").astype(np.uint64)


def _text(token: bytes) -> str:
    return token[2 if token[:1] == bytes([_TEXT]) else 1 :].decode()
