"""How fast the page answers a hand, in Chromium: `python -m bench.interface [--rounds 2]`.

Measured from the browser's own time of the input event to the end of the frame that shows what it asked for:
a drag of the size slider on documents of 1,400 and 10,000 words, until the cuts are drawn; the same step as a plain
`st.select_slider` with `st.html` in a fragment, which shows nothing before the key or the thumb is released; a new
setting on the bundled corpus, vectors cached, until every figure is confirmed; and the first paint of the text.
The store is that of CHUNKSCOPE_CACHE, which a first, unmeasured pass fills.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from data.bundled import bundled
from tests.serving import serving

ROOT = Path(__file__).resolve().parent.parent
LENGTHS = (1_400, 10_000)  # words
STEPS = 40  # of a drag
VISITS = 5
Times = list[float]  # milliseconds to the paint: from an input event, and from its arrival in the page
PLAIN = """
import re
import streamlit as st

TEXT = open({path!r}, encoding="utf-8").read()

@st.fragment
def part():
    size = st.select_slider("Size", [25, 50, 75, 100, 120, 150, 175, 200, 225, 250, 300, 350, 400, 500, 600, 700, 800], 200, key="w_size")
    words = re.findall(r"\\S+\\s*", TEXT)
    runs = ["".join(words[at : at + size]) for at in range(0, len(words), size)]
    tints = ("#cde0f7", "#f9dfc0")
    spans = [f'<span style="background:{{tints[at % 2]}}">{{run.replace("<", "&lt;")}}</span>' for at, run in enumerate(runs)]
    with st.container(key="shown"):
        st.html(f'<div class="cs-doc" style="white-space:pre-wrap;height:600px;overflow:auto">{{"".join(spans)}}</div>')

part()
"""
# Notes when the last input event was; as the page's first listener, so that it is ahead of what the page does with it.
INPUT = """for (const name of ["keydown", "pointermove"]) addEventListener(name, e => { window.input = [e.timeStamp, performance.now()] }, true)"""
# Notes the times from an input event, and from its arrival in the page, to the end of the frame that first changes
# something below `selector` after it. Chromium holds moves of the pointer back until a frame begins.
RECORD = """([selector, attribute]) => {
  window.times = []; let changed = null;
  window.input = null;
  new MutationObserver(() => { if (input !== null) { changed ??= input; input = null } })
    .observe(document.querySelector(selector), attribute ? {attributes: true, attributeFilter: [attribute]} : {subtree: true, childList: true});
  const painted = () => { if (changed !== null) { times.push(changed.map(at => performance.now() - at)); changed = null } };
  // A task of this priority comes first once the frame in which it was asked for has been drawn.
  const frame = () => { scheduler.postTask(painted, {priority: "user-blocking"}); requestAnimationFrame(frame) };
  requestAnimationFrame(frame);
}"""


def opened(browser: Browser, url: str) -> Page:
    """A page of its own at an address, that notes its input."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(INPUT)
    page.goto(url)
    return page


def document(words: int) -> str:
    """A document of so many words, made of the bundled posts."""
    text, count = "", 0
    for post in bundled()[0].documents:
        for paragraph in post.text.split("\n\n"):
            text += f"{paragraph}\n\n"
            count += len(paragraph.split())
            if count >= words:
                return text
    raise ValueError(f"the posts have fewer than {words} words")


def ready(page: Page) -> None:
    """Waits until the page's state is confirmed and its script has ended."""
    page.wait_for_selector(".cs-view[data-rev]", timeout=240_000)
    page.wait_for_timeout(300)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=240_000)


def dragged(browser: Browser, url: str, text: str) -> list[Times]:
    """The times of each move of a drag that changed the cuts."""
    page = opened(browser, f"{url}/?corpus=own&strategy=recursive")
    upload = {"name": "long.md", "mimeType": "text/markdown", "buffer": text.encode()}
    page.locator('.st-key-own_files input[type="file"]').set_input_files(upload)
    ready(page)
    page.wait_for_function("() => Object.keys(window.chunkscope['table size']?.stops ?? {}).length", timeout=60_000)
    knob = page.locator('.st-key-w_size [data-testid="stSliderThumbValue"]').locator("..").bounding_box()
    track = page.locator('.st-key-w_size [role="group"]').bounding_box()
    assert knob
    assert track
    height = knob["y"] + knob["height"] - 4
    page.mouse.move(knob["x"] + knob["width"] / 2, height)
    page.mouse.down()
    page.evaluate(RECORD, [".cs-line", ""])
    for step in [*range(STEPS), *range(STEPS, -1, -1)]:
        page.mouse.move(track["x"] + track["width"] * step / STEPS, height)
        page.wait_for_timeout(40)
    times = page.evaluate("() => times")
    page.mouse.up()
    page.close()
    return times


def plain(browser: Browser, text: str) -> tuple[list[Times], list[Times]]:
    """With Streamlit's own slider and HTML: the times of each key press until what the server sent is drawn, and of visits."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.md")
        path.write_text(text, encoding="utf-8")
        script = Path(folder, "plain.py")
        script.write_text(PLAIN.format(path=str(path)), encoding="utf-8")
        with serving(str(script)) as url:
            page = opened(browser, url)
            page.wait_for_selector(".cs-doc")
            page.wait_for_timeout(1000)
            page.evaluate(RECORD, [".st-key-shown", ""])
            times = pressed(page)
            page.close()
            return times, first_paints(browser, url, ".cs-doc span")


def confirmed(browser: Browser, url: str) -> list[Times]:
    """The times of a slider's release at a new setting until the last figure, in a session of its own."""
    page = opened(browser, f"{url}/?strategy=fixed&size=200&post=cache-eviction.md")
    ready(page)
    page.evaluate(RECORD, [".cs-view", "data-rev"])
    times = pressed(page)
    page.close()
    # Going right, the first seven settings were measured before in this session.
    return times[:7] + times[14:]


def pressed(page: Page) -> list[Times]:
    """The times of the first change after each press of an arrow key on the size's slider."""
    thumb = page.locator('.st-key-w_size input[type="range"]')
    thumb.focus()
    times = []
    for key in ["ArrowLeft"] * 7 + ["ArrowRight"] * 16:
        page.evaluate("() => { times.length = 0 }")
        thumb.press(key)
        page.wait_for_function("() => times.length", timeout=240_000)
        page.wait_for_timeout(600)
        times += page.evaluate("() => times.slice(0, 1)")
    return times


def first_paints(browser: Browser, url: str, selector: str) -> list[Times]:
    """The times from an address to text with cuts: of a browser that has been at Streamlit before."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    times = []
    for visit in range(VISITS + 1):
        page = context.new_page()
        begin = time.perf_counter()
        page.goto(url)
        page.wait_for_selector(selector, timeout=60_000)
        if visit:
            times.append([1000 * (time.perf_counter() - begin)] * 2)
        page.wait_for_timeout(5000)
        page.close()
    context.close()
    return times


def said(name: str, times: list[float]) -> None:
    low, high = np.percentile(times, [50, 95])
    print(f"{name:<58} p50 {low:7.1f} ms   p95 {high:7.1f} ms   n {len(times)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    rounds = parser.parse_args().rounds
    found: dict[str, list[Times]] = {}

    def add(name: str, times: list[Times]) -> None:
        found.setdefault(name, []).extend(times)

    options: dict[str, Any] = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox", "--disable-gpu"]}
    with sync_playwright() as driver, serving("app.py") as url:
        browser = driver.chromium.launch(**options)
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; Chromium {browser.version}")
        confirmed(browser, url)  # fills the store
        for _ in range(rounds):
            for words in LENGTHS:
                text = document(words)
                add(f"drag, event to paint, {words:,} words", dragged(browser, url, text))
                keys, visits = plain(browser, text)
                add(f"plain slider and HTML, key to paint, {words:,} words", keys)
            add("first paint of the plain page", visits)
            add("release to every figure confirmed, bundled corpus", confirmed(browser, url))
            add("first paint of the text", first_paints(browser, url, ".cs-doc mark.cs-bar"))
        browser.close()
    for name, times in found.items():
        said(name, [since for since, _ in times])
        if name.startswith("drag"):
            said("    of these, since the event had arrived in the page", [arrived for _, arrived in times])
    for words in LENGTHS:
        live, slow = (np.percentile([since for since, _ in found[name.format(words)]], 95) for name in
                      ("drag, event to paint, {:,} words", "plain slider and HTML, key to paint, {:,} words"))  # fmt: skip
        print(f"at {words:,} words the drag is {slow / live:.1f} times as fast as the plain round trip (p95)")


if __name__ == "__main__":
    main()
