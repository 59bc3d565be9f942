"""What every backend must do alike: one suite, run over each."""
