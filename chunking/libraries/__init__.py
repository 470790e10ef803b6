"""Adapters around libraries that people already use, one library a file; each is imported when its strategy is chosen."""
