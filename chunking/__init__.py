"""The core of Chunkscope: cutting documents, ranking chunks and measuring what was found. Pure functions, no I/O."""
