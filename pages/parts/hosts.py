"""Where this session's Ollama server is, and who may say so: by hand, in secrets.toml, in OLLAMA_HOST; else this machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import streamlit as st

_TYPED = "typed_host"  # of the session only: not in the address, where a link could send texts to a stranger's server
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Host(NamedTuple):
    """The address of a server as it was given, None for that of OLLAMA_HOST or this machine."""

    address: str | None
    typed: bool  # into the page, so that no key goes there


def local() -> bool:
    """Whether only people at this machine can open the page."""
    return st.get_option("server.address") in _LOOPBACK


def may_type() -> bool:
    """Whether the address may be typed in: as the administrator says, else where the page is for this machine only."""
    allowed = _secret("allow_typed_host")
    return allowed if isinstance(allowed, bool) else local()


def host() -> Host:
    """The address that this session uses."""
    typed = st.session_state.get(_TYPED) if may_type() else None
    return Host(typed, True) if typed else Host(_secret("ollama_host"), False)


def type_host() -> None:
    """The field for an address by hand; empty, it goes back to the configured one."""
    st.session_state["w_host"] = st.session_state.get(_TYPED, "")
    st.text_input("Address of the server", key="w_host", on_change=_keep, max_chars=300, placeholder="as configured",
                  help="Such as 192.168.1.5 or https://host/path, for this session only. Texts are sent there; a key never is. "
                  "Empty: the one in secrets.toml, in OLLAMA_HOST, or this machine.")  # fmt: skip


def _keep() -> None:
    st.session_state[_TYPED] = st.session_state["w_host"].strip()


def _secret(name: str) -> Any:
    """A value of .streamlit/secrets.toml; None where it or the file is not there."""
    return st.secrets.get(name) if st.secrets.load_if_toml_exists() else None
