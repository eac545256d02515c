"""The plan of docs/fleet.md is what its arithmetic says, and that is what a simulation does."""

from __future__ import annotations

from dataclasses import replace

import plan
import pytest
from conftest import ROOT


def test_the_document_has_the_figures_of_the_script() -> None:
    document = " ".join((ROOT / "docs" / "fleet.md").read_text().split())
    for line in plan.tables().splitlines():
        assert " ".join(line.split()) in document, line


@pytest.mark.parametrize("one", plan.PLANS, ids=lambda one: one.name)
def test_formulas_and_simulation_agree(one: plan.Plan) -> None:
    # Days scale, so a short retention shows the same as a long one.
    short = replace(
        one, tiers=tuple(replace(t, days_kept=min(t.days_kept, 9)) for t in one.tiers)
    )
    plan.check(short, days=12)


def test_amounts_by_hand() -> None:
    minute = plan.MINUTES
    assert minute.bytes_per_day(10_000) == 10_000 * 1440 * 186_000 == 2_678_400_000_000
    assert minute.puts_per_day(10_000) == 86_400_000
    only = plan.Plan("minutes", (minute,))
    # 5,356.8 GB at $0.023, and 2.592 thousand million PUTs at $0.005 a thousand.
    assert only.dollars_per_month(10_000) == pytest.approx(5356.8 * 0.023 + 2_592_000 * 0.005)
