"""Model files and checkpoints: arrays and JSON, nothing that could be executed."""
