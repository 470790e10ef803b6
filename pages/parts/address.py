"""What a user has set, kept in the session and in the page's address, so that a link, a reload and Back bring it back.

The settings live under one plain key of the session. They are read from the address when a session begins and whenever
the address was changed by somebody else than this module (Back, a link); widgets are set from them before they are drawn.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

_KEPT = "chosen"
_WRITTEN = "address"
_TOUCHED = "touched"


def load() -> None:
    """Takes over the address at a session's first run, and after it changed under the page (Back, a link).

    What the user just did wins over the address: a quick hand is ahead of the browser's address line.
    """
    address = dict(st.query_params.items())
    touched = st.session_state.pop(_TOUCHED, False)
    if _KEPT not in st.session_state or (address != st.session_state[_WRITTEN] and not touched):
        st.session_state[_KEPT] = address
    st.session_state[_WRITTEN] = address


def chosen(name: str, default: str = "") -> str:
    """The value that the user has set for `name`, as text."""
    return st.session_state[_KEPT].get(name, default)


def kept() -> dict[str, str]:
    """All that the user has set, for a link."""
    return dict(st.session_state[_KEPT])


def choose(name: str, value: Any) -> None:
    """Sets a value; '' takes it away. For callbacks of widgets: before the page is drawn."""
    st.session_state[_TOUCHED] = True
    if value in ("", None):
        st.session_state[_KEPT].pop(name, None)
    else:
        st.session_state[_KEPT][name] = str(value)


def save() -> None:
    """Writes what is set into the address, where it differs."""
    settings = kept()
    if settings != dict(st.query_params.items()):
        st.query_params.from_dict(settings)
    st.session_state[_WRITTEN] = settings
