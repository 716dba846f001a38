"""Prices learned from receipts, for models whose service publishes no price rule.

A learned price always carries its error and the number of receipts behind it. What the receipts
do not support is no price at all: a setting that never varied, a choice that was never made.
"""

from __future__ import annotations

from kit.explore.learned.quotes import LearnedQuote, PriceBook, Sample

__all__ = ["LearnedQuote", "PriceBook", "Sample"]
