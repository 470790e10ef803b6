"""Where an Ollama server is, and whether the user's key may be sent there."""

import ipaddress
import os
import re
from urllib.parse import urlsplit

import httpx

PORT = 11434

#: Who gives out the keys.
KEY_MAKER = "https://ollama.com:443"


def server_host(host: str | None = None) -> str:
    """The server's address as scheme, host, port and path; without an argument that of OLLAMA_HOST, else this machine.

    As Ollama reads it: "box" -> "http://box:11434", "http://box" -> "http://box:80". A user name, a password and a
    query are left out.
    """
    given = (host or os.environ.get("OLLAMA_HOST") or "").strip().strip("\"'")
    try:
        return _host_url(given)
    except (ValueError, httpx.InvalidURL):
        raise ValueError(
            f'the address of an Ollama server must look like "127.0.0.1:11434" or "https://host/path", got {given!r}'
        ) from None


def _host_url(given: str) -> str:
    scheme, separator, rest = given.rpartition("://")
    scheme = scheme.lower() if separator else "http"
    if scheme not in ("http", "https") or re.search(r"[\s\\]", rest):
        raise ValueError
    rest = f"[{rest}]" if rest.count(":") > 1 and not re.search(r"[\[/@]", rest) else rest  # a bare IPv6 address
    parts = urlsplit(f"//{rest}")
    usual = {"http": 80, "https": 443}[scheme] if separator else PORT
    name = parts.hostname or "127.0.0.1"
    name = "127.0.0.1" if name == "0.0.0.0" else name  # where a server listens is not always where it can be called
    name = f"[{name}]" if ":" in name else name
    url = f"{scheme}://{name}:{parts.port or usual}{parts.path.rstrip('/')}"
    httpx.URL(url)  # raises where the client would
    return url


def is_loopback(url: str) -> bool:
    """True for an address of this machine itself."""
    name = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def key_header(url: str, typed: bool = False) -> dict[str, str]:
    """The header with OLLAMA_API_KEY, for the address that OLLAMA_HOST names or that the key is made for; else none.

    An address that was typed into the page gets none, whatever it is: who types it need not be whose key it is.
    """
    key, named = os.environ.get("OLLAMA_API_KEY"), os.environ.get("OLLAMA_HOST")
    if not key or typed:
        return {}
    try:
        trusted = url == KEY_MAKER or (bool(named) and url == server_host(named))
    except ValueError:  # OLLAMA_HOST is malformed, and so is not this address
        trusted = False
    return {"authorization": f"Bearer {key}"} if trusted else {}
