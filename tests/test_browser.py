"""The app as a person meets it: a fresh server on a free port, a real browser, the built-in model."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chunking.types import Document
from pages.parts.live import shown_blocks
from tests.conftest import ROOT
from tests.ollama_double import OllamaDouble, stand_in
from tests.serving import serving

playwright = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SHOTS = ROOT / "tests" / "screenshots"
pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@contextmanager
def app(store: Path, ollama: str = "http://127.0.0.1:9") -> Iterator[str]:
    """The address of a freshly started app."""
    with serving("app.py", CHUNKSCOPE_CACHE=str(store), OLLAMA_HOST=ollama) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with playwright.sync_playwright() as driver:
        system = next((found for found in map(shutil.which, NAMES) if found), None)
        own = driver.chromium.executable_path
        if not system and not os.path.exists(own):
            reason = f"no Chromium: none of {', '.join(NAMES)} is on the PATH and Playwright has none"
            if os.environ.get("CI"):
                pytest.fail(f"in CI the browser tests must run: {reason}")
            pytest.skip(reason)
        started = driver.chromium.launch(
            executable_path=system or own,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser-store")


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    with app(store) as url:
        yield url


def evaluated(store: Path, *arguments: str) -> dict:
    """What the terminal prints for a setting."""
    command = [sys.executable, "chunkscope.py", "evaluate", *arguments, "--json"]
    environment = {**os.environ, "CHUNKSCOPE_CACHE": str(store)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def settled(page) -> dict[str, str]:
    """The figures of the page once the script has run to its end."""
    page.wait_for_selector('[data-testid="stMetricValue"]', timeout=120_000)
    page.wait_for_timeout(300)  # a change is on its way to the server
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=240_000)
    page.wait_for_timeout(300)
    return figures_of(page)


def figures_of(page) -> dict[str, str]:
    """The figures as they are now."""
    labels = page.locator('[data-testid="stMetricLabel"] p').all_inner_texts()
    values = page.locator('[data-testid="stMetricValue"]').all_inner_texts()
    return dict(zip(labels, [value.strip() for value in values], strict=True))


def bars(page) -> list[tuple[str, str]]:
    """The label of each cut on the screen and the text behind it."""
    return page.evaluate(
        "() => [...document.querySelectorAll('.cs-doc mark.cs-bar')].map(m => [m.dataset.label, m.textContent])"
    )


def opened(browser, url: str, width: int = 1280, **options) -> object:
    """A page whose state is confirmed and whose sliders have their tables."""
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    page.goto(url)
    settled(page)
    page.wait_for_selector(".cs-view[data-rev]", timeout=60_000)
    return page


def thumb(page, name: str):
    return page.locator(f'.st-key-w_{name} input[type="range"]').first


def drag(page, name: str, stop: str) -> None:
    """Drags a slider's thumb until it shows a stop, and does not let go."""
    track = page.locator(f'.st-key-w_{name} [role="group"]').bounding_box()
    knob = page.locator(f'.st-key-w_{name} [data-testid="stSliderThumbValue"]').locator("..").bounding_box()
    y = knob["y"] + knob["height"] - 4
    page.mouse.move(knob["x"] + knob["width"] / 2, y)
    page.mouse.down()
    stops = int(thumb(page, name).get_attribute("max"))
    for step in range(4 * stops + 1):
        if thumb(page, name).get_attribute("aria-valuetext") == stop:
            return
        page.mouse.move(track["x"] + track["width"] * step / (4 * stops), y)
    raise AssertionError(f"the slider {name} never came to {stop}")


def agrees(figures: dict[str, str], trial: dict) -> None:
    """The page shows what the terminal prints."""
    assert figures["Hit rate"] == f"{100 * trial['hit_rate']:.1f}%"
    assert figures["Split"] == f"{100 * trial['split_share']:.1f}%"
    assert figures["Coverage"] == f"{100 * trial['coverage']:.1f}%"
    assert figures["Precision"] == f"{100 * trial['precision']:.1f}%"
    assert figures["Words sent"] == f"{trial['words_sent']:,.0f}"
    assert figures["Chunks"] == f"{trial['chunks']:,}"
    assert figures["Truncated"] == f"{trial['truncated_chunks']:,}"


def test_the_first_start_shows_text_at_once_and_all_basic_strategies_within_90_seconds(browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    began = time.monotonic()
    page.goto(address)
    page.wait_for_selector(".cs-doc mark.cs-c0", timeout=60_000)
    text = time.monotonic() - began
    figures = settled(page)
    everything = time.monotonic() - began
    print(f"\ntext and boundaries after {text:.1f} s, every basic strategy measured after {everything:.1f} s")
    assert figures["Hit rate"].endswith("%")
    assert everything < 90
    legend = page.locator(".js-plotly-plot .legendtext").all_text_contents()
    assert {"Whole document", "Fixed window", "Sentences", "Recursive", "Semantic", "Parent and child"} <= set(legend)
    page.close()


def test_a_slider_moves_boundaries_and_figures_to_what_evaluate_prints(browser, address: str, store: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{address}/?strategy=fixed&size=200&post=write-ahead-logs.md")
    agrees(settled(page), evaluated(store, "--strategy", "fixed", "--set", "size=200"))
    before = bars(page)
    thumb = page.locator('.st-key-w_size [role="slider"], .st-key-w_size input[type="range"]').first
    thumb.focus()
    thumb.press("ArrowLeft")
    page.wait_for_function("() => location.search.includes('size=175')", timeout=30_000)
    agrees(settled(page), evaluated(store, "--strategy", "fixed", "--set", "size=175"))
    assert len(bars(page)) > len(before)
    page.go_back()
    page.wait_for_function("() => location.search.includes('size=200')", timeout=30_000)
    page.wait_for_timeout(1500)
    agrees(settled(page), evaluated(store, "--strategy", "fixed", "--set", "size=200"))
    page.close()


def test_a_deep_link_opened_first_on_a_fresh_server_shows_its_setting(browser, store: Path) -> None:
    with app(store) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{url}/?strategy=sentence&size=120&overlap=30&k=3&post=bloom-filters.md&question=bloom-filters-3")
        figures = settled(page)
        trial = evaluated(store, "--strategy", "sentence", "--set", "size=120", "--set", "overlap=30", "--k", "3")
        agrees(figures, trial)
        assert "# Bloom filters" in page.locator(".cs-doc[role=document]").first.inner_text()
        page.get_by_role("link", name="Read the chunks that are sent").wait_for()
        page.reload()
        assert settled(page) == figures
        page.close()


@pytest.mark.long
def test_moving_a_slider_stops_an_embedding_run_and_starts_the_new_one(browser, tmp_path: Path, store: Path) -> None:
    with app(tmp_path) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{url}/?strategy=sentence&size=50")
        page.wait_for_selector('[data-testid="stProgress"]', timeout=60_000)
        thumb = page.locator('.st-key-w_size [role="slider"], .st-key-w_size input[type="range"]').first
        thumb.focus()
        thumb.press("ArrowRight")
        page.wait_for_function("() => location.search.includes('size=75')", timeout=30_000)
        page.wait_for_selector(".cs-view[data-rev]:not([data-moving])", timeout=240_000)
        page.get_by_test_id("stMetricLabel").filter(has_text="Hit rate").wait_for(timeout=240_000)
        page.wait_for_timeout(2000)  # the chart's points are still embedded, and need not be waited for
        agrees(figures_of(page), evaluated(store, "--strategy", "sentence", "--set", "size=75"))
        page.close()


@pytest.mark.long
def test_the_shown_text_is_the_document_letter_by_letter(browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/?strategy=fixed&size=100&overlap=25&search=keyword&post=rate-limiting.md")
    settled(page)
    shown = page.evaluate("() => document.querySelector('.cs-doc[role=document]').textContent")
    assert shown == (ROOT / "data" / "posts" / "rate-limiting.md").read_text(encoding="utf-8")
    page.close()


@pytest.mark.parametrize(
    "hostile",
    [
        'Before <b id="probe">bold</b> <img src=x onerror="document.title=\'changed\'"> &amp; $5 and $6 *a_b* after.',
        "# a title\n\n    four blanks\n\ttab\n- item\n\n\n*stars* and `ticks`  two blanks 🪣",
        "| a | b |\n|---|---|\n| <i id=probe>1</i> | 2 |\n\n```html\n<script>document.title='changed'</script>\n```\n",
    ],
)
def test_uploaded_markup_stays_text(browser, address: str, hostile: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/?corpus=own&strategy=fixed&size=3")
    page.locator('.st-key-own_files input[type="file"]').set_input_files(
        {"name": "<img src=x>.md", "mimeType": "text/markdown", "buffer": hostile.encode()}
    )
    page.wait_for_selector(".cs-doc[role=document]", timeout=60_000)
    settled(page)
    assert page.evaluate("() => document.querySelector('.cs-doc[role=document]').textContent") == hostile
    assert "".join(text for _, text in shown_blocks(Document("a", hostile))) == hostile
    assert page.title() == "Explore · Chunkscope"
    assert page.locator("#probe").count() == 0
    page.close()


def test_while_a_slider_is_dragged_cuts_and_figures_follow_and_nothing_is_sent(browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    frames = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    page.goto(f"{address}/?strategy=fixed&size=200&post=cache-eviction.md")
    figures = settled(page)
    before, line = bars(page), page.locator(".cs-line").inner_text()
    sent = len(frames)
    # What cuts are shown when a move of the pointer has been heard by all, and what Streamlit then still writes.
    page.evaluate("""() => { window.heard = []; addEventListener("pointermove", () => heard.push(
        [document.querySelector(".cs-line").textContent, document.querySelector(".st-key-w_size input").getAttribute("aria-valuetext")])) }""")
    drag(page, "size", "75")
    page.wait_for_timeout(200)
    stops = page.evaluate("() => window.chunkscope['table size'].stops")
    heard = page.evaluate("() => heard")
    assert any(shown != stops[written]["figures"] for shown, written in heard), (
        "cuts are ahead of what Streamlit writes"
    )
    assert all(shown in {stop["figures"] for stop in stops.values()} for shown, _ in heard)
    dragged, moved = bars(page), page.locator(".cs-line").inner_text()
    assert len(dragged) > len(before)
    assert moved != line
    assert len(frames) == sent, "nothing is sent before the slider is released"
    assert page.locator(".st-key-cs_figures[data-outdated]").count() == 1
    rev = page.locator(".cs-view").get_attribute("data-rev")
    page.mouse.up()
    page.wait_for_function("rev => document.querySelector('.cs-view').dataset.rev !== rev", arg=rev, timeout=30_000)
    confirmed = settled(page)
    assert bars(page) == dragged, "what is confirmed is what was on the screen"
    assert page.locator(".cs-line").inner_text() == moved
    assert moved.startswith(f"{confirmed['Chunks']} chunks in all · {confirmed['Words each']} words each · "
                            f"{confirmed['Repeated']} repeated · {confirmed['Split']} of")  # fmt: skip
    assert confirmed["Chunks"] != figures["Chunks"]
    assert page.locator(".st-key-cs_figures[data-outdated]").count() == 0
    page.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "name", "key"),
    [
        ("strategy=sentence&search=keyword", "size", "ArrowLeft"),
        ("strategy=recursive&size=100&search=keyword", "overlap", "ArrowRight"),
        ("strategy=semantic&search=keyword", "threshold", "ArrowRight"),
        ("strategy=parent_child&search=keyword", "parent", "ArrowRight"),
        ("strategy=cluster&search=keyword", "size", "ArrowLeft"),
    ],
)
def test_an_arrow_key_shows_at_once_what_the_server_then_confirms(browser, address: str, query: str, name: str, key: str) -> None:  # fmt: skip
    page = opened(browser, f"{address}/?{query}&post=bloom-filters.md")
    before = bars(page)
    page.evaluate("""() => { window.seen = [];
        new MutationObserver(() => { const root = document.querySelector('.cs-view');
            if (root.hasAttribute('data-moving')) window.seen.push([...document.querySelectorAll('.cs-doc mark.cs-bar')]
                .map(m => [m.dataset.label, m.textContent])) })
        .observe(document.querySelector('.cs-doc'), {subtree: true, childList: true}) }""")
    thumb(page, name).focus()
    thumb(page, name).press(key)
    page.wait_for_function("() => window.seen.length", timeout=10_000)
    settled(page)
    assert page.evaluate("() => window.seen.at(-1)") == bars(page) != before
    page.close()


@pytest.mark.long
def test_the_place_in_the_document_is_kept_through_drag_and_release(browser, address: str) -> None:
    page = opened(browser, f"{address}/?strategy=fixed&size=200&post=compression-trade-offs.md")
    page.evaluate("() => { document.querySelector('.cs-doc').scrollTop = 1500 }")
    page.wait_for_timeout(300)
    top = "() => { const pane = document.querySelector('.cs-doc'), at = pane.getBoundingClientRect().top; return [...pane.children].map(b => [b.textContent, Math.round(b.getBoundingClientRect().top - at)]).find(b => b[1] > 0) }"
    place = page.evaluate(top)
    drag(page, "size", "50")
    assert page.evaluate(top) == place
    page.mouse.up()
    settled(page)
    assert page.evaluate(top) == place
    page.close()


@pytest.mark.long
def test_jumps_go_to_chunks_passages_and_cut_passages(browser, address: str) -> None:
    page = opened(browser, f"{address}/?strategy=fixed&size=50&search=keyword&post=backpressure.md")

    def in_view(selector: str) -> list[str]:
        return page.evaluate("""selector => { const box = document.querySelector('.cs-doc').getBoundingClientRect();
            return [...document.querySelectorAll('.cs-doc ' + selector)].filter(m => { const r = m.getBoundingClientRect();
                return r.top >= box.top && r.top < box.bottom }).map(m => m.dataset.label ?? m.textContent) }""", selector)  # fmt: skip

    page.locator(".cs-number").fill("20")
    page.locator(".cs-number").press("Enter")
    assert "20" in in_view("mark.cs-bar.cs-current")
    assert page.locator(".cs-tip").inner_text().startswith("Chunk 20: 50 words · ")
    assert "read to its end" in page.locator(".cs-tip").inner_text()
    page.locator(".cs-doc").press("]")
    assert "21" in in_view("mark.cs-bar.cs-current")
    page.locator(".cs-doc").press("ArrowLeft")
    assert "20" in in_view("mark.cs-bar.cs-current")
    page.locator(".cs-tools [data-go=cut]").click()
    assert any("cut" in label for label in in_view("mark.cs-through"))
    page.locator(".cs-tools [data-go=on]").click()
    assert in_view("mark.cs-answer")
    first = page.locator(".cs-tip").inner_text()
    page.locator(".cs-tools [data-go=on]").click()
    assert page.locator(".cs-tip").inner_text() != first
    page.locator(".cs-tools [data-go=back]").click()
    assert page.locator(".cs-tip").inner_text() == first
    page.locator(".cs-doc mark.cs-bar").nth(2).dispatch_event("pointerover")
    assert page.locator(".cs-tip").inner_text().startswith("Chunk 3: 50 words · ")
    page.close()


def test_the_diamond_follows_the_slider_over_a_chart_that_stays_and_a_click_on_a_point_goes_there(browser, address: str) -> None:  # fmt: skip
    page = opened(browser, f"{address}/?strategy=fixed&size=200")
    page.wait_for_selector(".cs-cursor[data-setting*='size=200']", state="attached")
    thumb(page, "size").focus()
    thumb(page, "size").press("ArrowLeft")
    page.wait_for_selector(".cs-cursor[data-setting*='size=175']", state="attached", timeout=120_000)
    settled(page)
    page.evaluate("() => { document.querySelector('.st-key-cs_chart .js-plotly-plot').same = true }")
    before = page.locator(".cs-cursor path").last.get_attribute("d")
    drag(page, "size", "200")
    page.wait_for_selector(".cs-cursor[data-setting*='size=200']", state="attached")
    assert page.locator(".cs-cursor path").last.get_attribute("d") != before
    page.mouse.up()
    settled(page)
    thumb(page, "size").focus()
    thumb(page, "size").press("ArrowRight")
    settled(page)
    assert page.evaluate("() => document.querySelector('.st-key-cs_chart .js-plotly-plot').same"), (
        "the chart was drawn anew"
    )
    page.locator(".st-key-cs_chart .scatterlayer .point").first.scroll_into_view_if_needed()
    page.locator(".st-key-cs_chart .scatterlayer .point").first.hover(force=True)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("() => location.search.includes('strategy=whole')", timeout=30_000)
    page.close()


@pytest.mark.long
def test_a_click_on_the_map_goes_there(browser, address: str) -> None:
    page = opened(browser, f"{address}/?strategy=fixed&size=50&search=keyword&post=backpressure.md")
    box = page.locator(".cs-map").bounding_box()
    page.mouse.click(box["x"] + 10, box["y"] + box["height"] * 0.9)
    page.wait_for_timeout(200)
    scrolled = page.evaluate(
        "() => { const p = document.querySelector('.cs-doc'); return (p.scrollTop + p.clientHeight) / p.scrollHeight }"
    )
    assert scrolled > 0.8
    page.close()


@pytest.mark.long
def test_what_is_copied_is_the_text_of_the_document(browser, address: str) -> None:
    page = opened(browser, f"{address}/?strategy=fixed&size=50&search=keyword&post=backpressure.md")
    copied = page.evaluate("""() => { const pane = document.querySelector('.cs-doc');
        getSelection().selectAllChildren(pane);
        const data = new DataTransfer();
        pane.dispatchEvent(new ClipboardEvent('copy', {clipboardData: data, bubbles: true, cancelable: true}));
        return data.getData('text/plain') }""")
    assert copied == (ROOT / "data" / "posts" / "backpressure.md").read_text(encoding="utf-8")
    page.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_screenshots_of_both_themes_and_a_phone(browser, address: str, scheme: str, width: int) -> None:
    SHOTS.mkdir(exist_ok=True)
    page = browser.new_page(viewport={"width": width, "height": 844 if width < 500 else 800}, color_scheme=scheme)
    page.goto(f"{address}/?strategy=fixed&size=100&overlap=25&post=cache-eviction.md&question=cache-eviction-3")
    settled(page)
    assert is_light(page) == (scheme == "light")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1"), "the page scrolls sideways"
    page.screenshot(path=str(SHOTS / f"explore-{scheme}-{width}.png"))
    page.close()


def sidebar(page, name: str):
    """A part of the sidebar that unfolds, unfolded."""
    part = page.get_by_test_id("stExpander").filter(has=page.locator("summary", has_text=name))
    if part.locator("details[open]").count() == 0:
        part.locator("summary").focus()
        page.keyboard.press("Enter")
    return part


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light"])
def test_a_model_is_picked_fetched_and_told_of(browser, tmp_path: Path, scheme: str) -> None:
    SHOTS.mkdir(exist_ok=True)
    with OllamaDouble(vectors=stand_in) as server, app(tmp_path, server.host) as url:
        del server.models["nomic-embed-text:latest"]
        server.size["all-minilm:latest"] = 45_960_996
        server.pull_wait = 0.4
        page = browser.new_page(viewport={"width": 1280, "height": 1400}, color_scheme=scheme)
        page.goto(f"{url}/?strategy=section&embedder=ollama:all-minilm")
        settled(page)
        assert page.locator(".st-key-w_embedder input").input_value() == "all-minilm · 256 tokens · 46 MB"

        part = sidebar(page, "Ollama server")
        part.get_by_role("button", name="Fetch", exact=True).click()
        page.get_by_text(re.compile(r"Fetching nomic-embed-text: \d+ MB of 274 MB")).wait_for(timeout=60_000)
        page.screenshot(path=str(SHOTS / f"models-{scheme}-pull.png"))
        part.get_by_role("button", name="Cancel nomic-embed-text").click()
        page.get_by_text("nomic-embed-text: cancelled.").wait_for(timeout=60_000)
        assert "nomic-embed-text:latest" not in server.models
        server.pull_wait = 0.02
        part.get_by_role("button", name="Fetch", exact=True).click()
        page.get_by_text("nomic-embed-text is there, and can be chosen above.").wait_for(timeout=60_000)

        page.locator(".st-key-w_embedder input").click()
        page.get_by_role("option", name="nomic-embed-text · 2,048 tokens").click()
        page.wait_for_function("() => location.search.includes('nomic')", timeout=30_000)
        settled(page)
        part = sidebar(page, "How texts are put to the model")
        field = part.get_by_role("textbox", name="Before each query")
        assert field.input_value() == "search_query: "
        field.fill("find: ")
        field.press("Enter")
        part.get_by_role("button", name="Back to the model's own").wait_for(timeout=60_000)
        page.get_by_text("Before each query: 'find: '.").wait_for(timeout=60_000)
        settled(page)
        part = sidebar(page, "Store of vectors")
        part.get_by_text(re.compile(r"ollama:nomic-embed-text, digest .{12}, vectors: [\d,]+")).wait_for(timeout=60_000)
        assert str(tmp_path) in part.inner_text()
        page.screenshot(path=str(SHOTS / f"models-{scheme}.png"))
        part.screenshot(path=str(SHOTS / f"models-{scheme}-store.png"))
        page.close()


@pytest.mark.long
def test_stop_ends_the_embedding_and_go_on_ends_the_stop(browser, tmp_path: Path) -> None:
    SHOTS.mkdir(exist_ok=True)
    with app(tmp_path) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{url}/?strategy=sentence&size=50")
        page.get_by_text(re.compile(r"Embedding [\d,]+ of [\d,]+ texts · .*about \d+ (s|min) left")).wait_for(
            timeout=60_000
        )
        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_text(re.compile(r"Stopped: [\d,]+ of [\d,]+ texts are embedded, and are kept.")).wait_for(
            timeout=30_000
        )
        page.get_by_test_id("stMetricLabel").filter(has_text="Chunks").wait_for()
        page.screenshot(path=str(SHOTS / "stopped.png"))
        page.get_by_role("button", name="Go on").click()
        page.get_by_test_id("stMetricLabel").filter(has_text="Hit rate").wait_for(timeout=120_000)
        page.close()


def at_rest(page) -> None:
    """Waits until the script has run to its end, figures or none."""
    page.wait_for_selector(
        '[data-testid="stMain"] h3, [data-testid="stMetricValue"], [data-testid="stButtonGroup"]', timeout=240_000
    )
    page.wait_for_timeout(300)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=240_000)
    page.wait_for_timeout(300)


PLACES = (
    "/",
    "/?strategy=parent_child&question=backpressure-1",
    "/ask?question=backpressure-1",
    "/sweep?search=keyword",
    "/sweep?sweep=any&parameter=scope&search=keyword",
    "/compare",
    "/compare?section=questions",
    "/compare?section=cuts&post=backpressure.md",
)


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_axe_finds_no_violation(browser, address: str, place: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    page.goto(f"{address}{place}")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        at_rest(page)
        assert is_light(page) == (scheme == "light")
        found = axe.Axe().run(page).response["violations"]
        assert [(scheme, one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
    page.close()


def is_light(page) -> bool:
    background = page.evaluate("() => getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    return sum(map(int, re.findall(r"\d+", background)[:3])) > 384


def test_a_question_is_asked_and_its_settings_travel_to_explore_and_back(browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{address}/ask?strategy=fixed&size=200&question=backpressure-1")
    at_rest(page)
    rows = page.locator('[data-testid="stTable"] tbody tr')
    assert "Fixed window, size 200" in rows.first.inner_text()
    sent = page.get_by_text(re.compile(r"^#\d")).count()
    assert sent == 5
    page.get_by_role("link", name="Explore").click()
    page.wait_for_function("() => !location.pathname.includes('ask')")
    assert {"strategy=fixed", "size=200", "question=backpressure-1"} <= set(page.url.partition("?")[2].split("&"))
    settled(page)
    page.go_back()
    page.wait_for_function("() => location.pathname.includes('ask')")
    at_rest(page)
    assert "Fixed window, size 200" in rows.first.inner_text()
    page.close()


@pytest.mark.long
def test_reload_and_back_lose_nothing_that_was_set(browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/?strategy=fixed&size=200&k=3&search=keyword&post=write-ahead-logs.md&question=backpressure-1")
    first = settled(page)
    thumb(page, "size").focus()
    thumb(page, "size").press("ArrowLeft")
    page.wait_for_function("() => location.search.includes('size=175')", timeout=30_000)
    second, cut = settled(page), bars(page)
    assert second != first
    page.reload()
    assert settled(page) == second
    assert bars(page) == cut
    assert {"k=3", "search=keyword", "post=write-ahead-logs.md"} <= set(page.url.partition("?")[2].split("&"))
    page.go_back()
    page.wait_for_function("() => location.search.includes('size=200')", timeout=30_000)
    page.wait_for_function(
        "() => document.querySelector('.st-key-w_size input').getAttribute('aria-valuetext') === '200'"
    )
    assert settled(page) == first
    page.close()


def test_a_question_is_kept_by_selecting_its_passage(browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1200})
    page.goto(f"{address}/ask?q=Why+does+a+queue+need+a+limit%3F")
    at_rest(page)
    page.locator(".cs-chunk").first.evaluate("""(chunk) => {
        const node = [...chunk.childNodes].find((one) => one.textContent.includes("A queue between"));
        const from = node.textContent.indexOf("A queue between");
        getSelection().setBaseAndExtent(node, from, node, from + 55);
        chunk.dispatchEvent(new MouseEvent("mouseup", { bubbles: true }));
    }""")
    field = page.get_by_role("textbox", name="The passage that answers it")
    page.wait_for_function("() => document.querySelector('.st-key-w_passage textarea').value.startsWith('A queue')")
    assert len(field.input_value()) in (54, 55)
    at_rest(page)
    page.get_by_role("button", name="Keep as a test question").click()
    page.wait_for_function("() => location.search.includes('kept=')", timeout=60_000)
    at_rest(page)
    page.get_by_text("The answer is in").wait_for()
    page.reload()
    at_rest(page)
    page.get_by_text("The answer is in").wait_for()
    page.close()


def swept(page) -> None:
    """Waits until a sweep has ended and all that follows it is drawn."""
    page.get_by_role("button", name="Table (CSV)").wait_for(timeout=300_000)
    at_rest(page)


@pytest.mark.parametrize("scheme", ["light"])
def test_a_sweep_runs_beside_the_app_and_its_points_can_be_clicked_and_saved(
    browser, address: str, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1400}, color_scheme=scheme)
    page.goto(f"{address}/sweep?strategy=fixed&size=200&search=keyword&image=svg")
    swept(page)
    page.screenshot(path=str(SHOTS / f"sweep-{scheme}.png"))
    point = page.locator(".st-key-cs_sweep .js-plotly-plot").first.locator(".points .point, .points path").last
    for _ in range(2):  # again after the slider was moved by hand
        point.click(force=True)
        page.wait_for_function("() => location.search.includes('size=800')", timeout=30_000)
        at_rest(page)
        slider = page.locator(".st-key-w_size [role=slider], .st-key-w_size input[type=range]").first
        slider.focus()
        slider.press("ArrowLeft")
        page.wait_for_function("() => location.search.includes('size=700')", timeout=30_000)
        swept(page)
    with page.expect_download(timeout=30_000) as picture:
        page.locator('.st-key-cs_sweep [data-attr="toimage"], .st-key-cs_sweep [data-title*="ownload"]').first.click()
    assert picture.value.suggested_filename == "chunkscope-sweep-1.svg"
    with page.expect_download(timeout=30_000) as figures:
        page.get_by_role("button", name="Table (CSV)").click()
    assert len(Path(figures.value.path()).read_text(encoding="utf-8").splitlines()) == 35
    page.close()


@pytest.mark.long
def test_a_cell_of_a_map_takes_its_setting_and_the_plateau_is_outlined(browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1400})
    page.goto(f"{address}/sweep?strategy=fixed&sweep=map&search=keyword")
    swept(page)
    page.screenshot(path=str(SHOTS / "sweep-map.png"))
    chart = page.locator(".st-key-cs_sweep .js-plotly-plot").first
    assert chart.locator(".shapelayer path").count() > 3
    box = chart.locator(".nsewdrag").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 7.5 / 8, box["y"] + box["height"] * 0.5 / 5)
    page.wait_for_function(
        "() => location.search.includes('size=800') && location.search.includes('overlap=200')", timeout=30_000
    )
    page.close()


@pytest.mark.parametrize("scheme", ["dark"])
def test_trials_are_compared_and_the_report_stands_alone(browser, address: str, tmp_path: Path, scheme: str) -> None:
    SHOTS.mkdir(exist_ok=True)
    page = browser.new_page(viewport={"width": 1280, "height": 1400}, color_scheme=scheme)
    page.goto(f"{address}/compare")
    at_rest(page)
    first = page.locator('[data-testid="stTable"]').first
    first.locator("tbody tr").nth(6).wait_for()
    assert first.get_by_text("best", exact=True).count() == 1
    for section in (
        "Leaderboard",
        "Misses",
        "Each question",
        "Equal k, equal words",
        "Kinds of question",
        "Two cuts on one text",
    ):
        page.get_by_role("radio", name=section).click()
        page.wait_for_timeout(300)
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=120_000)
        page.wait_for_timeout(600)
        assert page.locator('[data-testid="stException"]').count() == 0
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1"), section
        page.screenshot(
            path=str(SHOTS / f"compare-{section.lower().replace(', ', '-').replace(' ', '-')}-{scheme}.png")
        )
    page.get_by_role("radio", name="Study and report").click()
    with page.expect_download(timeout=120_000) as waiting:
        page.get_by_role("button", name="Download the report (HTML)").click()
    waiting.value.save_as(tmp_path / "report.html")
    asked: list[str] = []
    report = browser.new_page()
    report.on("request", lambda request: asked.append(request.url))
    report.goto((tmp_path / "report.html").as_uri())
    report.wait_for_selector(".js-plotly-plot .main-svg", timeout=60_000)
    assert report.locator(".js-plotly-plot").count() == 3
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == [], "it needs no network"
    report.close()
    page.close()


@pytest.mark.long
def test_a_line_goes_with_the_threshold_across_the_curve_of_likeness(browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1600})
    page.goto(f"{address}/compare?section=cuts&strategy=semantic&trials=")
    at_rest(page)
    inside = page.locator(".st-key-cs_likeness_a")
    inside.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=60_000)
    knob = inside.locator('[data-testid="stSliderThumbValue"]').locator("..").bounding_box()
    y = knob["y"] + knob["height"] - 4
    page.mouse.move(knob["x"] + knob["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(knob["x"] + knob["width"] / 2 + 60, y, steps=6)
    page.wait_for_timeout(300)
    said, shown = (
        page.locator(".cs-level").text_content(),
        inside.locator('input[type="range"]').get_attribute("aria-valuetext"),
    )
    assert said.startswith(f"{shown}: ")
    below = int(re.search(r": (\d+) of", said).group(1))
    page.mouse.up()
    inside.get_by_text(f"a chunk ends ({below})").wait_for(timeout=30_000)
    assert page.locator(".cs-level").count() == 0, "the chart drawn anew has the line"
    page.close()


@pytest.mark.long
def test_a_dropped_connection_and_a_second_tab_lose_nothing(browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script("""
        const Socket = WebSocket;
        window.sockets = [];
        window.WebSocket = class extends Socket {
            constructor(...given) { super(...given); sockets.push(this); }
        };
    """)
    page.goto(f"{address}/?strategy=fixed&size=200&post=write-ahead-logs.md")
    before = settled(page)
    other = browser.new_page(viewport={"width": 1280, "height": 800})
    other.goto(f"{address}/?strategy=fixed&size=100&post=backpressure.md")
    second = settled(other)
    sockets = page.evaluate("() => { sockets.at(-1).close(); return sockets.length; }")
    page.wait_for_function(f"() => sockets.length > {sockets} && sockets.at(-1).readyState === 1", timeout=60_000)
    thumb(page, "size").focus()
    thumb(page, "size").press("ArrowLeft")
    page.wait_for_function("() => location.search.includes('size=175')", timeout=60_000)
    settled(page)
    thumb(page, "size").press("ArrowRight")
    page.wait_for_function("() => location.search.includes('size=200')", timeout=60_000)
    assert settled(page) == before
    assert "post=write-ahead-logs.md" in page.url
    assert settled(other) == second
    assert "size=100" in other.url
    page.close()
    other.close()
