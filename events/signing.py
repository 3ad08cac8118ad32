"""Signed heads: an agent's key certifies the key of each of its writers, which signs what was written (ADR 0021).

A writer makes a key that lives as long as its process. Its ``writer.joined`` carries the certificate: the writer's
public key (32 bytes), the agent's (32), and the agent's signature (64) over a label, the writer's key and the hash of
the agent's name. With every commit the writer signs its head, a hash over all that it wrote: a label ‖ writer (16) ‖
seq (8, big-endian) ‖ hash (32). All keys and signatures are ed25519; only the newest signature of a branch is kept.

Needs the extra ``sign`` (the package ``cryptography``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from beliefbase.events.envelope import Event
from beliefbase.events.errors import BeliefbaseError
from beliefbase.events.ids import name_hash
from beliefbase.events.log import Head, SignedHead

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
SUFFIX: Final = ".key"
ALGORITHM: Final = "ed25519"
_WRITER: Final = b"beliefbase writer 1\0"
_HEAD: Final = b"beliefbase head 1\0"


class SigningUnavailable(BeliefbaseError):
    """Signatures can't be made or checked: the extra ``sign`` isn't installed."""

    code = "signing_unavailable"


class BadKey(BeliefbaseError):
    """A key file or trust file can't be read or used; ``data`` has its path."""

    code = "bad_key"
    exit_code = 2


@dataclass(frozen=True)
class Certificate:
    """What an agent's key says of a writer's."""

    writer_key: bytes
    agent_key: bytes
    signature: bytes

    @classmethod
    def of(cls, joined: Event) -> Self | None:
        """The certificate in a writer's first event; None where there is none."""
        told = joined.skeleton.payload.get("certificate") if joined.skeleton.type == "writer.joined" else None
        if not isinstance(told, bytes) or len(told) != 2 * KEY_BYTES + SIGNATURE_BYTES:
            return None
        return cls(told[:KEY_BYTES], told[KEY_BYTES : 2 * KEY_BYTES], told[2 * KEY_BYTES :])

    def holds(self, agent: bytes) -> bool:
        """Whether the agent's key did certify the writer's, for an agent whose name has this hash."""
        return _verified(self.agent_key, self.signature, _WRITER + self.writer_key + agent)

    def covers(self, signed: SignedHead) -> bool:
        """Whether the writer's key did sign this head."""
        return _verified(self.writer_key, signed.signature, _head(signed.head))


class WriterKey:
    """The key of one writer process; kept in memory only."""

    def __init__(self, private: Ed25519PrivateKey, certificate: bytes) -> None:
        self._private = private
        self.certificate = certificate
        """As ``writer.joined`` carries it."""

    def sign(self, head: Head) -> SignedHead:
        """Vouch for everything up to this head."""
        return SignedHead(*head, self._private.sign(_head(head)))


class AgentKey:
    """The long-lived key of an agent or a person; kept in a file outside of any store."""

    def __init__(self, agent: str, private: Ed25519PrivateKey) -> None:
        self.agent = agent
        self._private = private
        self.public = private.public_key().public_bytes_raw()

    @classmethod
    def new(cls, agent: str, seed: bytes) -> Self:
        """The key that these 32 random bytes make.

        Raises:
            SigningUnavailable: the extra isn't installed.
        """
        return cls(agent, _private(seed))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a key file.

        Raises:
            BadKey: it isn't there, is none, or others can read it.
            SigningUnavailable: the extra isn't installed.
        """
        try:
            if path.stat().st_mode & 0o077:
                raise BadKey(f"{path}: others can read this key", hint=f"chmod 600 {path}", path=str(path))
            told = json.loads(path.read_text("utf-8"))
            agent, seed = told["agent"], bytes.fromhex(told["private"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _bad(path, f"no key file that this release can read ({error})") from None
        if told.get("beliefbase_key") != 1 or not isinstance(agent, str) or len(seed) != KEY_BYTES:
            raise _bad(path, "no key file that this release can read")
        return cls(agent, _private(seed))

    def write(self, path: Path) -> None:
        """Write a new file that only its owner can read.

        Raises:
            BadKey: there is a file already, or it can't be written.
        """
        told = {"beliefbase_key": 1, "agent": self.agent, "private": self._private.private_bytes_raw().hex()}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")
        except FileExistsError:
            raise _bad(path, "there is a file already, and a key is never overwritten") from None
        except OSError as error:
            raise _bad(path, f"can't be written ({error.strerror})") from None

    def certify(self, seed: bytes) -> WriterKey:
        """The key that these 32 random bytes make for a writer, certified."""
        private = _private(seed)
        public = private.public_key().public_bytes_raw()
        signature = self._private.sign(_WRITER + public + name_hash(self.agent))
        return WriterKey(private, public + self.public + signature)

    @property
    def line(self) -> str:
        """The line of a trust file that trusts this key."""
        return f"{ALGORITHM} {self.public.hex()} {self.agent}"


class Trust:
    """The public keys of agents that somebody trusts."""

    def __init__(self, keys: Mapping[bytes, frozenset[bytes]]) -> None:
        self._keys = keys
        """By the hash of an agent's name."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a trust file: lines ``ed25519 HEX AGENT``, as ``beliefbase key show`` prints them; # begins a comment.

        Raises:
            BadKey: it can't be read; names the line.
        """
        keys: dict[bytes, set[bytes]] = {}
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise _bad(path, f"can't be read ({error})") from None
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            algorithm, _, rest = line.strip().partition(" ")
            key, _, agent = rest.partition(" ")
            if algorithm != ALGORITHM or not agent or not _is_key(key):
                raise _bad(path, f"line {number} is not `{ALGORITHM} HEX AGENT`")
            keys.setdefault(name_hash(agent.strip()), set()).add(bytes.fromhex(key))
        return cls({agent: frozenset(public) for agent, public in keys.items()})

    def trusts(self, certificate: Certificate, agent: bytes) -> bool:
        """Whether a certificate is by a key that is trusted for the agent whose name has this hash, and holds."""
        return certificate.agent_key in self._keys.get(agent, ()) and certificate.holds(agent)


def key_file(folder: Path, agent: str) -> Path:
    """Where an agent's key lies in a folder of keys."""
    return folder / (name_hash(agent).hex() + SUFFIX)


def can_sign() -> bool:
    """Whether the extra is installed."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        return False
    return True


def _head(head: Head) -> bytes:
    return _HEAD + head.writer + head.seq.to_bytes(8, "big") + head.hash


def _is_key(text: str) -> bool:
    return len(text) == 2 * KEY_BYTES and set(text) <= set("0123456789abcdef")


def _private(seed: bytes) -> Ed25519PrivateKey:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise _unavailable() from None
    return Ed25519PrivateKey.from_private_bytes(seed)


def _verified(public: bytes, signature: bytes, message: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise _unavailable() from None
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _unavailable() -> SigningUnavailable:
    return SigningUnavailable("signatures need the package cryptography", hint="pip install 'beliefbase[sign]'")


def _bad(path: Path, what: str, **data: Any) -> BadKey:
    return BadKey(
        f"{path}: {what}", hint="`beliefbase key new AGENT` makes a key, `key show` its line", path=str(path), **data
    )
