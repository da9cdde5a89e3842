"""How the rows of data are read and named: columns, cells, files, filters, patterns, prompts. Pure."""
