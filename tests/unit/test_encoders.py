"""No caller asks what kind of encoder it has: what differs is behind `Encoder`, or in `Capabilities`."""

import ast
import re
from collections.abc import Iterator, Sequence

from tests.support.sources import FILES, name_of, nodes_of

INTERFACE = "Encoder"
# They define encoders, or build them.
MAY_NAME_CLASSES = (
    "nt2vr/models/encoder.py",
    "nt2vr/models/open_clip_encoder.py",
    "nt2vr/models/clip_encoder.py",
    "nt2vr/models/clip_origins.py",
    "nt2vr/models/precomputed.py",
    "nt2vr/models/outside.py",
    "nt2vr/models/catalog.py",
    "nt2vr/models/checkpoint.py",
    "nt2vr/api.py",
    "trainer/learner.py",
)
# It looks at what it is given, which may not be an `Encoder`.
ADAPTER = "nt2vr/models/outside.py"
QUESTIONS = ("hasattr", "getattr", "isinstance", "issubclass", "type", "vars")
# Fields of a card that say what kind of model it is of. Their values may be read, but not asked for
# their truth.
SECTIONS = ("side", "input", "clip", "queries")
# They read and write these fields; a config refuses what a card rules out, before it has a model.
MAY_ASK_CARDS = ("nt2vr/models/", "trainer/config/")


def encoder_classes() -> set[str]:
    """Return the names of the encoders in `nt2vr/models`: subclasses of `Encoder`, and classes with its methods."""
    definitions = []
    for file in FILES:
        if name_of(file).startswith("nt2vr/models/"):
            definitions += [node for node in nodes_of(file) if isinstance(node, ast.ClassDef)]

    encoders = {INTERFACE}
    for definition in definitions:
        methods = {node.name for node in definition.body if isinstance(node, ast.FunctionDef)}
        if "encode_text" in methods and methods & {"encode_video", "encode_frames", "encode_clips"}:
            encoders.add(definition.name)
    is_growing = True
    while is_growing:
        subclasses = set()
        for definition in definitions:
            bases = {ast.unparse(base) for base in definition.bases}
            if encoders & bases:
                subclasses.add(definition.name)
        is_growing = not subclasses <= encoders
        encoders |= subclasses
    return encoders - {INTERFACE}


CLASSES = encoder_classes()


def variables_of(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names in a file that hold encoders: by their name, or annotated as such."""
    names = {"encoder"}
    for node in nodes:
        if not isinstance(node, ast.arg | ast.AnnAssign) or node.annotation is None:
            continue
        annotation = ast.unparse(node.annotation).strip("'\"").removesuffix(" | None")
        if annotation in CLASSES | {INTERFACE}:
            names.add(node.arg if isinstance(node, ast.arg) else ast.unparse(node.target))
    return names


def holds_encoder(node: ast.expr, variables: set[str]) -> bool:
    """Return True for `encoder`, `self._encoder`, `loaded.encoder`, and for a name annotated as an encoder."""
    if isinstance(node, ast.Name):
        return node.id in variables
    return isinstance(node, ast.Attribute) and node.attr.lstrip("_") == "encoder"


def names_in(node: ast.AST) -> set[str]:
    """Return the names that an expression, an import or an annotation in quotes mentions."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if isinstance(node, ast.alias):
        return {node.name}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    return set()


def questions_in(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the places of a file that ask an object whether it is an encoder, or an encoder what it is."""
    variables = variables_of(nodes)
    for node in nodes:
        if isinstance(node, ast.Match) and holds_encoder(node.subject, variables):
            yield node
        if isinstance(node, ast.MatchClass) and names_in(node.cls) & (CLASSES | {INTERFACE}):
            yield node
        if (
            not isinstance(node, ast.Call)
            or not names_in(node.func) & set(QUESTIONS)
            or not node.args
        ):
            continue
        classes: set[str] = set()
        for argument in node.args[1:]:
            for part in ast.walk(argument):
                classes |= names_in(part)
        is_about_class = ast.unparse(node.func) in ("isinstance", "issubclass") and classes & (
            CLASSES | {INTERFACE}
        )
        if is_about_class or holds_encoder(node.args[0], variables):
            yield node


def conditions_in(nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    """Yield the expressions whose truth a file asks for."""
    for node in nodes:
        if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield node.test
        elif isinstance(node, ast.comprehension):
            yield from node.ifs
        elif isinstance(node, ast.BoolOp):
            yield from node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "bool":
            yield from node.args


def asks_card(condition: ast.expr) -> bool:
    """Return True for `card.clip` and the like, and for a comparison with a pooling that is weighed by the query."""
    if isinstance(condition, ast.Compare):
        return "QUERY_SCORED" in ast.unparse(condition)
    is_section = isinstance(condition, ast.Attribute) and condition.attr in SECTIONS
    return is_section and bool(re.search(r"card\b", ast.unparse(condition).rpartition(".")[0]))


def test_the_encoders_are_found() -> None:
    assert {
        "FrameEncoder",
        "OpenClipEncoder",
        "ClipModel",
        "PrecomputedEncoder",
        "WrappedEncoder",
    } <= CLASSES


def test_encoder_classes_are_named_only_where_defined_or_built() -> None:
    strays = []
    for file in FILES:
        if name_of(file) not in MAY_NAME_CLASSES:
            for node in nodes_of(file):
                strays += [f"{name_of(file)} names {name}" for name in names_in(node) & CLASSES]
    assert strays == []


def test_no_encoder_is_asked_what_it_is() -> None:
    strays = []
    for file in FILES:
        if name_of(file) != ADAPTER:
            strays += [
                f"{name_of(file)}: {ast.unparse(node)}" for node in questions_in(nodes_of(file))
            ]
    assert strays == []


def test_nobody_asks_a_card_what_its_model_is() -> None:
    strays = []
    for file in FILES:
        if not name_of(file).startswith(MAY_ASK_CARDS):
            conditions = conditions_in(nodes_of(file))
            strays += [
                f"{name_of(file)}: {ast.unparse(condition)}"
                for condition in conditions
                if asks_card(condition)
            ]
    assert strays == []
