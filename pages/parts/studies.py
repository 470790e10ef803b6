"""What is kept of a comparison: a study to download and load again, and a report as one HTML file."""

from __future__ import annotations

import streamlit as st

from cache.embedder import CachedEmbedder
from data.report import ReadError
from data.studies import trials_of
from pages.parts import code
from pages.parts.downloads import study_json
from pages.parts.report import report_html
from pages.parts.trials import Compared, kept_studies, study_differences
from pages.parts.words import counted, plain


def show(compared: Compared, embedder: CachedEmbedder) -> None:
    """Downloads, the upload, and the baseline as code."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Study", anchor=False)
        st.download_button("Download the study (JSON)", lambda: study_json(compared.corpus, compared.records), "study.json", "application/json", on_click="ignore",
                           help="The trials chosen above. It holds ids, spans, figures and hashes, no text of documents or questions.")  # fmt: skip
        st.caption("For chunkscope.py compare and check, or to load here again.")
        st.subheader("Report", anchor=False)
        st.download_button("Download the report (HTML)", lambda: report_html(compared), "report.html", "text/html", on_click="ignore",
                           help="Tables, charts and how it was measured, in one file that needs no network.")  # fmt: skip
        st.caption("About 5 MB: the charts' library is in it, once.")
    with right:
        st.subheader("Load a study", anchor=False)
        uploaded = st.file_uploader("A study (JSON)", type=["json"], key="study_file",
                                    help="Its trials join the leaderboard where it was measured on the same documents and questions.")  # fmt: skip
        if uploaded:
            _load(uploaded.name, uploaded.getvalue())
        _loaded(compared)
    code.panel(compared.baseline.config, embedder.name)


def _load(name: str, content: bytes) -> None:
    try:
        found = trials_of(name, content)
    except ReadError as error:
        st.error(plain(str(error)))
        return
    if found.study is None:
        st.error(
            plain(f"{name} is one trial and no study: it has no hashes that tell whether its documents are these.")
        )
        return
    if name not in kept_studies():
        kept_studies()[name] = found
        st.rerun()  # so that its trials stand in the leaderboard


def _loaded(compared: Compared) -> None:
    """The studies of this session: how many trials joined, or what differs."""
    for name, kept in kept_studies().items():
        if kept.study is None:
            continue
        content, other = study_differences(kept.study, compared.corpus)
        joined = f"{counted(len(kept.records), 'trial')}, read-only in the leaderboard"
        st.markdown(plain(f"{name}: {'not compared, it was measured on something else' if content else joined}."))
        for line in [*content, *other]:
            st.caption(plain(line))
        st.button(f"Remove {name}", key=f"remove {name}", on_click=_remove, args=(name,))


def _remove(name: str) -> None:
    kept_studies().pop(name, None)
    st.session_state.pop("study_file", None)
