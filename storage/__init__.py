"""What app and worker share, in layers: home, spec, record, registry, library, checks, analysis; each imports only
those before it."""
