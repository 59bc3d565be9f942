"""Measurements, beside a baseline taken in the same run. `python -m bench [subject …] [--quick]`."""
