"""What every spec can do: become a plain dictionary, come back from one, have a digest."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from .checks import InvalidInput, refuse


class Spec:
    """Base of the frozen spec dataclasses. Subclasses validate in ``__post_init__``."""

    schema: ClassVar[int] = 1

    def to_dict(self) -> dict[str, Any]:
        """Plain values only, with the kind and the schema version, ready for JSON."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        plain = {f.name: _plain(getattr(self, f.name)) for f in fields}
        return {"kind": type(self).__name__, "schema": self.schema, **plain}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The spec that ``to_dict`` wrote; anything else is refused with a reason."""
        if not isinstance(values, Mapping):
            raise refuse("values", values, "a dictionary", f"Use what {cls.__name__}.to_dict gave.")
        given = {str(k): v for k, v in values.items()}
        kind, schema = given.pop("kind", cls.__name__), given.pop("schema", cls.schema)
        if kind != cls.__name__:
            raise refuse("kind", kind, repr(cls.__name__), "This describes something else.")
        if schema != cls.schema:
            raise refuse(
                "schema", schema, f"{cls.schema}", "It was written by another version of rfm_core."
            )
        fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        unknown = sorted(set(given) - set(fields))
        if unknown:
            raise InvalidInput(
                f"{cls.__name__} has no field {unknown[0]!r}. Its fields are: {', '.join(fields)}."
            )
        try:
            return cls(**{k: _frozen(v) for k, v in given.items()})
        except TypeError as error:  # a required field is missing
            raise InvalidInput(f"{cls.__name__} cannot be made: {error}.") from None

    def digest(self) -> str:
        """A short name for exactly these values, the same on every machine."""
        return digest_of(self.to_dict())

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated anew."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


def digest_of(plain: Any) -> str:
    """SHA-256 of the canonical JSON of plain values, first 32 hexadecimal digits."""
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _plain(value: Any) -> Any:
    if isinstance(value, Spec):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value
