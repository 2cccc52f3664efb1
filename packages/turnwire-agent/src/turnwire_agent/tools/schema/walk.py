"""One walk over a schema, by the rules of one provider.

What a provider does not take is dropped, written into the description beside it, and noted as a
`Loss`. What only needs other words gets them. The rules are data (`schema.rules`); nothing here
knows a provider.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct

from turnwire_agent.tools.schema.document import Document, Node, json_key, named_types, type_of
from turnwire_agent.tools.schema.form import NAMED, NODES_MAX, SEVERAL, BadSchemaError, escaped
from turnwire_agent.tools.schema.root import as_object
from turnwire_agent.tools.schema.rules import CONSTRAINTS, DESCRIBED, Rules
from turnwire_agent.tools.schema.unions import accepts_null, look_alike, overlap, types_of

WALKED_MAX: Final = NODES_MAX
"""Most schemas in one walk: what is referred to inside of something else is walked apart."""
QUOTE_MAX: Final = 300
"""Most characters of one dropped value in a description."""
_LOOK_AROUND: Final = re.compile(r"(?<!\\)(?:\\\\)*\(\?<?[=!]")
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]+")
_UNIONS: Final = ("anyOf", "oneOf")
_OBJECT: Final = frozenset({"additionalProperties", "properties", "required"})
_ARRAY: Final = frozenset({"items", "maxItems", "minItems", "prefixItems"})
_BOUNDS: Final = {"exclusiveMaximum": ("maximum", -1), "exclusiveMinimum": ("minimum", 1)}
"""By exclusive bound: the inclusive one, and what turns one into the other for a whole number."""


class Loss(Struct, frozen=True):
    """Something of a schema that a provider is not sent as a rule."""

    where: str
    """A JSON pointer into the registered schema."""
    what: str
    """The keyword."""
    why: str


class _Place(Struct):
    """One schema on the walk."""

    node: Node
    """In plain words: see `Document.plain`."""
    where: str
    is_root: bool = False
    out: Node = msgspec.field(default_factory=dict)
    notes: dict[str, Any] = msgspec.field(default_factory=dict)
    """What goes into the description: keywords and their values."""
    done: set[str] = msgspec.field(default_factory=set)


class Walk:
    """One walk. `root` does it, and `losses` says afterwards what was lost."""

    def __init__(self, schema: Node, rules: Rules) -> None:
        self.losses: list[Loss] = []
        self._document = Document(schema)
        self._rules = rules
        self._walked = 0
        self._copies = 0
        """Copies of definitions around the schema that is translated now."""
        self._names: dict[str, str] = {}
        """By reference: the name of its definition in what is sent."""
        self._definitions: list[tuple[str, str]] = []
        """The references and their names, in the order in which they were met."""
        self._taken: dict[str, int] = {}
        """By name of a definition: how often it was wanted."""
        self._leads: dict[str, set[str]] = {"": set()}
        """By definition: those that it refers to. An empty name is the root."""
        self._current = ""

    def root(self) -> Node:
        """Return the schema to send.

        Raises:
            BadSchemaError: its values are no objects, or it is too large when it is written in the
                words that the provider takes.

        """
        out = self._translate(_Place(as_object(self._document), "#", is_root=True), "")
        definitions: Node = {}
        for reference, name in self._definitions:  # it grows in the loop
            self._current = name
            self._leads[name] = set()
            target = self._document.target(reference)
            definitions[name] = self._translate(_Place(target, reference[:QUOTE_MAX]), name)
        if definitions:
            out["$defs"] = definitions
        if not self._rules.recursive and _is_circular(self._leads):
            self.losses.append(Loss("#", "$ref", "a schema inside itself is not taken"))
        return out

    # One schema

    def _node(self, raw: object, where: str, name: str = "") -> Node:
        return self._translate(
            _Place(self._document.plain(raw, merge=not self._copies), where), name
        )

    def _translate(self, place: _Place, name: str) -> Node:
        """Write one schema in the words of the provider. `name` is what its title may repeat."""
        self._walked += 1
        copies = self._document.repeats(place.node)
        self._copies += copies
        if self._walked > WALKED_MAX:
            raise BadSchemaError("the schema is too large once its parts are put together")
        out = place.out
        if "$ref" in place.node:
            out["$ref"] = f"#/$defs/{self._name(place.node['$ref'])}"
            place.done.add("$ref")
        for keyword in _UNIONS:
            if keyword in place.node:
                self._union(place, keyword)
        self._values(place)
        self._bounds(place)
        types = named_types(place.node)
        if "object" in types:
            self._object(place)
        if "array" in types:
            self._array(place)
        for keyword in sorted(place.node, key="if".__ne__):  # `then` goes with it
            if keyword in CONSTRAINTS and keyword not in place.done:
                self._rest(place, keyword)
        if self._rules.typed and not out.keys() & {"$ref", "anyOf", "const", "enum", "type"}:
            self._lose(place, "type", "each schema must say a type")
        self._copies -= copies
        return self._described(place, name)

    def _lose(self, place: _Place, what: str, why: str) -> None:
        self.losses.append(Loss(place.where, what, why))

    def _drop(self, place: _Place, keyword: str, why: str = "is not taken") -> None:
        """Leave a keyword out, and let the description say it."""
        self._lose(place, keyword, why)
        place.notes[keyword] = place.node[keyword]
        place.done.add(keyword)

    def _may(self, place: _Place, keyword: str) -> bool:
        """Whether a keyword may be sent. If not, it is dropped."""
        if place.is_root and keyword in self._rules.root:
            self._drop(place, keyword, "is not taken at the root")
            return False
        if keyword not in self._rules.keywords:
            self._drop(place, keyword)
            return False
        return True

    def _union(self, place: _Place, keyword: str) -> None:
        branches = place.node[keyword]
        word = keyword if keyword in self._rules.keywords else "anyOf"
        if place.is_root:
            self._drop(place, keyword, "is not taken at the root")
            return
        if self._rules.alone and not self._is_alone(place, keyword):
            self._drop(place, keyword, "is not taken beside other constraints")
            return
        place.done.add(keyword)
        if word != keyword and overlap(self._document, branches):
            self._lose(place, keyword, "is sent as `anyOf`, and two branches may share a value")
            place.notes[keyword] = "only one of these may fit"
        if self._rules.all_required and look_alike(self._document, {"anyOf": branches}):
            self._lose(place, keyword, "branches with all their properties cannot be told apart")
        sent = [
            self._node(each, f"{place.where}/{keyword}/{at}") for at, each in enumerate(branches)
        ]
        place.out[word] = [*_flat(sent)] if word == "anyOf" else sent

    def _is_alone(self, place: _Place, keyword: str) -> bool:
        """Whether a union has no constraint beside it but a type that its branches repeat."""
        beside = place.node.keys() & CONSTRAINTS - {keyword}
        if beside == {"type"}:
            union = {keyword: place.node[keyword]}
            if types_of(self._document, union) <= types_of(
                self._document, {"type": place.node["type"]}
            ):
                place.done.add("type")
                return True
        return not beside

    def _values(self, place: _Place) -> None:
        """`const`, `enum` and `type`."""
        node = place.node
        for keyword in ("const", "enum"):
            if keyword not in node:
                continue
            values = node["enum"] if keyword == "enum" else [node["const"]]
            place.done.add(keyword)
            if place.is_root:
                self._drop(place, keyword, "is not taken at the root")
            elif not values or not {type_of(each) for each in values} <= self._rules.enum_types:
                self._drop(place, keyword, "is not taken with these values")
            elif keyword in self._rules.keywords:
                place.out[keyword] = node[keyword]
            else:
                place.out["enum"] = values
        if "type" in node and "type" not in place.done:
            place.out["type"] = node["type"]
            place.done.add("type")

    def _bounds(self, place: _Place) -> None:
        """Exclusive bounds, formats and patterns: what a provider may take in part."""
        node, rules = place.node, self._rules
        for keyword, (inclusive, step) in _BOUNDS.items():
            if keyword not in node or keyword in rules.keywords or inclusive not in rules.keywords:
                continue
            bound = node[keyword]
            if node.get("type") == "integer" and type_of(bound) == "integer":
                place.done.add(keyword)
                bound = int(bound) + step
            else:
                self._drop(place, keyword, f"is sent as `{inclusive}`")
            tighter = max if step > 0 else min
            place.out[inclusive] = tighter(bound, node.get(inclusive, bound))
            place.done.add(inclusive)
        if "format" in node and rules.formats is not None and node["format"] not in rules.formats:
            self._drop(place, "format", "is not one of the formats that are taken")
        if "pattern" in node and not rules.look_around and _LOOK_AROUND.search(node["pattern"]):
            self._drop(place, "pattern", "looks ahead or behind")

    def _object(self, place: _Place) -> None:
        node, rules, out = place.node, self._rules, place.out
        place.done |= _OBJECT
        others = node.get("additionalProperties", True)
        required = dict.fromkeys(node.get("required", []))
        # A provider may refuse a required property that is not declared.
        undeclared = others if isinstance(others, dict) else True
        properties = dict(node.get("properties", {}))
        for name in required:
            properties.setdefault(name, undeclared)
        sent: Node = {}
        for name, schema in properties.items():
            where = f"{place.where}/properties/{escaped(name)}"
            if rules.property_name is not None and not re.fullmatch(rules.property_name, name):
                self.losses.append(Loss(where, "properties", "this name is not taken"))
                place.notes[f"property {name!r}{' (required)' if name in required else ''}"] = (
                    schema
                )
                required.pop(name, None)
                continue
            sent[name] = self._node(schema, where, name)
            if rules.all_required and name not in required:
                sent[name] = self._or_null(sent[name], schema, where)
        if sent or rules.closed or place.is_root:
            out["properties"] = sent
        if required or rules.all_required:
            out["required"] = list(sent) if rules.all_required else list(required)
        if rules.closed:
            if others is not False and (
                "additionalProperties" in node or not (sent or place.is_root)
            ):
                self._lose(place, "additionalProperties", "other properties cannot be sent")
            out["additionalProperties"] = False
        elif isinstance(others, dict):
            out["additionalProperties"] = self._node(others, f"{place.where}/additionalProperties")
        elif "additionalProperties" in node and len(sent) == len(properties):
            out["additionalProperties"] = others

    def _or_null(self, sent: Node, schema: object, where: str) -> Node:
        """Let null stand for an absent property. `restore` removes it again."""
        if not accepts_null(self._document, schema):
            return _nullable(sent)
        if self._document.plain(schema).get("default", True) is not None:
            why = "absent and null may mean different things, and every property is required"
            self.losses.append(Loss(where, "required", why))
        return sent

    def _array(self, place: _Place) -> None:
        node, rules, out = place.node, self._rules, place.out
        place.done |= _ARRAY
        first, items = node.get("prefixItems", []), node.get("items", True)
        counts = {each: node[each] for each in ("minItems", "maxItems") if each in node}
        if items is False:
            counts["maxItems"] = min(len(first), counts.get("maxItems", len(first)))
            items = True
        if first and "prefixItems" not in rules.keywords:
            self._drop(place, "prefixItems", "is sent as items of any of these schemas")
            closed = node.get("items", True) is False
            distinct = {json_key(each): each for each in [*first, *([] if closed else [items])]}
            items = {"anyOf": [*distinct.values()]} if len(distinct) > 1 else first[0]
        elif first:
            out["prefixItems"] = [
                self._node(each, f"{place.where}/prefixItems/{at}") for at, each in enumerate(first)
            ]
        if items is not True:
            out["items"] = self._node(items, f"{place.where}/items")
        elif rules.items_needed:
            out["items"] = {}
            if rules.typed:
                self._lose(place, "items", "the items of an array must have a type")
        for keyword, count in counts.items():
            most = rules.min_items_max if keyword == "minItems" else None
            if keyword in rules.keywords and (most is None or count <= most):
                out[keyword] = count
            else:
                self._lose(place, keyword, "is not taken" if most is None else "is taken up to 1")
                place.notes[keyword] = count

    def _rest(self, place: _Place, keyword: str) -> None:
        """A keyword that is sent as it is, but for what is inside of it, or not at all."""
        value, where = place.node[keyword], f"{place.where}/{keyword}"
        if keyword == "required" and self._rules.alone:
            self._drop(place, keyword, "is not taken without `properties`")
        elif keyword in {"else", "then"} and "if" in place.notes:
            self._drop(place, keyword, "goes with `if`")
        elif not self._may(place, keyword):
            return
        elif keyword in SEVERAL:
            place.out[keyword] = [
                self._node(each, f"{where}/{at}") for at, each in enumerate(value)
            ]
        elif keyword in NAMED:
            place.out[keyword] = {
                name: self._node(each, f"{where}/{escaped(name)}") for name, each in value.items()
            }
        elif not isinstance(value, dict) or keyword == "dependentRequired":
            place.out[keyword] = value
        else:
            self._inner(place, keyword, where)

    def _inner(self, place: _Place, keyword: str, where: str) -> None:
        """A schema inside of a keyword. In `not` and `if`, a loss would refuse more, not less."""
        losses = len(self.losses)
        sent = self._node(place.node[keyword], where)
        if keyword in {"if", "not"} and len(self.losses) > losses:
            del self.losses[losses:]
            self._drop(place, keyword, "holds something that is not taken")
        else:
            place.out[keyword] = sent

    # What is around it

    def _described(self, place: _Place, name: str) -> Node:
        """Add the description, and what only it can say."""
        node, out = place.node, place.out
        for keyword in sorted(DESCRIBED & node.keys()):
            if keyword in self._rules.keywords:
                out[keyword] = node[keyword]
            else:
                place.notes[keyword] = node[keyword]
        title = node.get("title", "")
        text = node.get("description") or ("" if _folded(title) == _folded(name) else title)
        notes = "; ".join(f"{keyword}: {_quoted(value)}" for keyword, value in place.notes.items())
        if text or notes:
            out["description"] = f"{text} ({notes})" if text and notes else text or notes
        if "$ref" in out and len(out) > 1:
            out = {"anyOf": [{"$ref": out.pop("$ref")}], **out}
        return out

    def _name(self, reference: str) -> str:
        """The name of a definition: that of the registered one, in letters that all take."""
        if reference not in self._names:
            name = _NOT_IN_NAMES.sub("_", reference.rpartition("/")[2])[:50].strip("_") or "root"
            while count := self._taken.get(name, 0):
                self._taken[name] = count + 1
                name = f"{name}_{count + 1}"
            self._taken[name] = 1
            self._names[reference] = name
            self._definitions.append((reference, name))
        self._leads[self._current].add(self._names[reference])
        return self._names[reference]


def _flat(branches: Iterable[Node]) -> Iterable[Node]:
    """A union in a union is one union, unless it has a description of its own."""
    for branch in branches:
        if branch.keys() == {"anyOf"}:
            yield from branch["anyOf"]
        else:
            yield branch


def _nullable(sent: Node) -> Node:
    if "anyOf" in sent and sent.keys() <= {"anyOf", "description"}:
        return {**sent, "anyOf": [*sent["anyOf"], {"type": "null"}]}
    inner = {keyword: value for keyword, value in sent.items() if keyword != "description"}
    beside = {"description": sent["description"]} if "description" in sent else {}
    return {"anyOf": [inner, {"type": "null"}], **beside}


def _is_circular(leads: dict[str, set[str]]) -> bool:
    """Whether a definition leads back to itself: what leads nowhere is taken away until none is."""
    left = dict(leads)
    while ends := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in ends:
            del left[name]
    return bool(left)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _quoted(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= QUOTE_MAX else f"{text[: QUOTE_MAX - 1]}…"
