"""What every dialect shares."""
