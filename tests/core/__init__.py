"""The core is pure, so its tests use arbitrary generated values."""
