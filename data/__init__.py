"""Documents and questions: the bundled ones, and readers for people's own files."""
