"""Pure values: events, interrupts, the message tree, artifacts, folds, errors, ids."""
