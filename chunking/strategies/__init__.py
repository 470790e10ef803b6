"""One strategy a file; `chunking.registry` is the table that lists them."""
