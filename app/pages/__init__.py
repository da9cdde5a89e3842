"""One file a page: build() lays out and wires; handlers are module-level functions on plain values."""
