"""What keeps a spec from running, found without starting anything: one file a part of the spec."""
