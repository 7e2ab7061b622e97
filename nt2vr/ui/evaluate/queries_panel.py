"""The queries of the open report: filters, where two systems differ, the list, and the review of one query."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from nt2vr.evaluation.archive import Archive
from nt2vr.evaluation.comparison import SMALLEST
from nt2vr.evaluation.intervals import LEVEL
from nt2vr.ui.evaluate.query_listing import QueryListing, menus_of
from nt2vr.ui.evaluate.query_views import queries_view
from nt2vr.ui.evaluate.report_link import FILTERS, ORDERS
from nt2vr.ui.evaluate.report_view import ALL_MEASURES, breakdown_view, measure_choices
from nt2vr.ui.evaluate.review_view import review_view
from nt2vr.ui.theme import fold, menu, template
from nt2vr.ui.view import View
from nt2vr.ui.web.inputs import Components, Updates

# Labels of filters; the others are labelled by their names.
LABELS = {"first": "Compare", "second": "with", "order": "Sort by most"}
BREAKDOWN = (
    f"The ranges are {LEVEL} % intervals over queries; queries with the same relevant videos count as one. The "
    "difference is taken query by query. It is within noise if its interval includes 0, or if flipping its signs at "
    "random gives one as large in 5 % of cases. Of 20 groups without any difference, about one is not within noise by "
    f"chance. Words with fewer than {SMALLEST} queries are joined."
)
# Pixels, so that no head and no interval breaks.
WIDTHS: list[str | int] = [115, 85, 182, 182, 182, 165]
# The same, where only differences have intervals.
WIDTHS_OF_MEASURES: list[str | int] = [178, 80, 100, 100, 228, 225]


@dataclass
class QueriesPanel:
    """The queries of the open report; lay it out below the report."""

    archive: Archive

    def build(self) -> None:
        # style.css lays them out.
        with gr.Row(elem_id="evaluate-filters", equal_height=True):
            self._build_filters()
        label = "Breakdown: where the two systems differ by more than noise"
        with fold(label, elem_id="evaluate-breakdowns") as self.breakdown:
            self.measure = menu(
                "evaluate-measure", label="Measure", choices=[ALL_MEASURES], value=ALL_MEASURES
            )
            self.groups = gr.Dataframe(
                interactive=False, wrap=True, column_widths=WIDTHS, elem_id="evaluate-groups"
            )
            gr.Markdown(BREAKDOWN)
        self.queries = template("evaluate-queries", {})
        # The query under review, in a dialog.
        self.review = template("review", {})

    def _build_filters(self) -> None:
        self.filters: dict[str, Any] = {}
        for name in FILTERS:
            elem_id = f"evaluate-{name}"
            label = LABELS.get(name, name.capitalize())
            if name == "find":
                self.filters[name] = gr.Textbox(
                    label=label, placeholder="words of the query", elem_id=elem_id
                )
            elif name == "fails":
                self.filters[name] = gr.Checkbox(False, label="fails everywhere", elem_id=elem_id)
            else:
                choices = ORDERS if name == "order" else ()
                self.filters[name] = menu(elem_id, label, choices)

    @property
    def shown(self) -> Components:
        """The components that `show` updates."""
        return [*self.filters.values(), self.breakdown, self.queries, self.review]

    def show(self, listing: QueryListing, refusal: str) -> Updates:
        """Show a place of a report, with the filters as it has them; `refusal`: why it takes no notes."""
        presentation = listing.report.presentation
        menus = menus_of(listing)
        updates = self.move(listing, refusal)
        updates[self.breakdown] = gr.Accordion(visible=presentation.has_breakdown)
        for name, component in self.filters.items():
            value = getattr(listing.link, name) or ""
            if name in menus:
                is_visible = name != "tag" or presentation.has_review
                updates[component] = gr.Dropdown(menus[name], value=value, visible=is_visible)
            elif name == "fails":
                updates[component] = bool(value)
            else:
                updates[component] = value
        return updates

    def move(self, listing: QueryListing, refusal: str) -> Updates:
        return {self.queries: queries_view(listing), self.review: review_view(listing, refusal)}

    def update_menu(self, name: str, listing: QueryListing) -> Updates:
        return {self.filters[name]: gr.Dropdown(menus_of(listing)[name])}

    def show_nothing(self) -> Updates:
        return {self.queries: {}, self.review: {}}

    def show_unreadable(self, address: str) -> Updates:
        """Leave only the address of a report that cannot be read."""
        return {
            self.queries: {"link": address},
            self.review: {},
            self.breakdown: gr.Accordion(visible=False),
        }

    def on_breakdown(self, report_shown: View, queries: View, key: str) -> list[Any]:
        """Break a metric down by negation word, or compare all if the two systems have not both."""
        if not report_shown.get("id"):
            return [gr.skip(), gr.skip()]
        report = self.archive.load(str(report_shown["id"]))
        first = str(queries.get("first"))
        second = str(queries.get("second"))
        choices = measure_choices(report, first, second)
        if not choices:
            return [gr.skip(), gr.skip()]

        if key not in [measure for _, measure in choices]:
            key = ALL_MEASURES
        widths = WIDTHS_OF_MEASURES if key == ALL_MEASURES else WIDTHS
        table = gr.Dataframe(breakdown_view(report, first, second, key), column_widths=widths)
        return [gr.Dropdown(choices, value=key), table]
