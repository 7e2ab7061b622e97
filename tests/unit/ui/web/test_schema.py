"""The OpenAPI document of `/api`: whole, and true of what is answered."""

from types import SimpleNamespace
from typing import Any

import nt2vr
from nt2vr.search.answers import Answer, Hit, Moment, Ranking
from nt2vr.ui.web.routes import build_routes
from nt2vr.ui.web.schema import SearchAnswer


def references_in(document: Any) -> list[str]:
    if isinstance(document, dict):
        own = [document["$ref"]] if "$ref" in document else []
        return own + [found for value in document.values() for found in references_in(value)]
    return [found for value in document for found in references_in(value)] if isinstance(document, list) else []


def test_every_reference_leads_somewhere() -> None:
    services: Any = SimpleNamespace()
    document = build_routes(services, services).openapi()
    assert document == build_routes(services, services).openapi()
    found = references_in(document)
    assert "#/components/schemas/ReferenceRequest" in found
    for reference in found:
        place: Any = document
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def test_answers_are_as_described() -> None:
    system = nt2vr.System("CLIP")
    window = Moment("film#1", 0.0, None, 0.5)
    hits = (Hit("a", 1, 0.5, "right"), Hit("film#1", 2, 0.4, None, "film", (window,)))
    query = nt2vr.understand("le chien n'est pas sur la table")
    plain = Ranking(system, hits[:1])
    full = Ranking(system, hits, read_as={"hound": "dog"}, epoch=3, missing=2)
    for answer in (Answer(query, (plain,)), Answer(query, (plain, full), "captions", "library")):
        data = answer.as_dict()
        assert SearchAnswer.model_validate(data, strict=True).model_dump(exclude_unset=True) == data
