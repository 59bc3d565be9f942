"""Tests of caesura."""
