"""Jobs for spark-submit: `fsck.py`, `export.py` and `backfill.py`; `headrace spark` runs them."""
