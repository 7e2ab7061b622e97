"""Terms of the tables are explained where they stand."""

import pytest

from nt2vr.evaluation.columns import GROUPS as OF_REPORTS
from nt2vr.evaluation.columns import Column
from nt2vr.ui.evaluate.terms import GROUP_MEANINGS, ROLE_MEANINGS, explain_column


def test_every_measure_and_group_of_reports_is_explained() -> None:
    for group in OF_REPORTS:
        assert GROUP_MEANINGS[group.head]
        for column in group.columns:
            assert explain_column(column), column.key


@pytest.mark.parametrize("label", ["zero-shot", "fine-tuned", "imported", "control"])
def test_what_a_system_is_called_is_explained(label: str) -> None:
    assert ROLE_MEANINGS[label]


def test_the_number_of_first_clips_is_that_of_the_measure() -> None:
    assert "first 5." in explain_column(Column("composed/R@5", "R@5"))
    assert "first 50." in explain_column(Column("all kinds/R@50", "R@50"))
    assert explain_column(Column("choice/accuracy color", "color")) == ""
