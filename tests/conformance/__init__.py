"""What every backend must do in the same way: one suite, run on each."""
