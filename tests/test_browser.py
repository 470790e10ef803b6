"""The app as a person meets it: a fresh server on a free port, a real browser, the built-in model."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT

playwright = pytest.importorskip("playwright.sync_api")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SHOTS = ROOT / "tests" / "screenshots"
pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def app(store: Path) -> Iterator[str]:
    """The address of a freshly started app."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port", str(port),
               "--server.fileWatcherType", "none"]  # fmt: skip
    environment = {**os.environ, "CHUNKSCOPE_CACHE": str(store), "OLLAMA_HOST": "http://127.0.0.1:9"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:  # fmt: skip
        try:
            for _ in range(150):
                try:
                    urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield f"http://localhost:{port}"
        finally:
            server.terminate()


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
    labels = page.locator('[data-testid="stMetricLabel"] p').all_inner_texts()
    values = page.locator('[data-testid="stMetricValue"]').all_inner_texts()
    return dict(zip(labels, [value.strip() for value in values], strict=True))


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
    before = page.locator(".cs-doc[role=document] .cs-bar").count()
    thumb = page.locator('.st-key-w_size [role="slider"], .st-key-w_size input[type="range"]').first
    thumb.focus()
    thumb.press("ArrowLeft")
    page.wait_for_function("() => location.search.includes('size=175')", timeout=30_000)
    agrees(settled(page), evaluated(store, "--strategy", "fixed", "--set", "size=175"))
    assert page.locator(".cs-doc[role=document] .cs-bar").count() > before
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
        assert page.locator(".cs-chunk").count() == 3
        page.reload()
        assert settled(page) == figures
        page.close()


def test_moving_a_slider_stops_an_embedding_run_and_starts_the_new_one(browser, tmp_path: Path, store: Path) -> None:
    with app(tmp_path) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{url}/?strategy=sentence&size=50")
        page.wait_for_selector('[data-testid="stProgress"]', timeout=60_000)
        thumb = page.locator('.st-key-w_size [role="slider"], .st-key-w_size input[type="range"]').first
        thumb.focus()
        thumb.press("ArrowRight")
        page.wait_for_function("() => location.search.includes('size=75')", timeout=30_000)
        agrees(settled(page), evaluated(store, "--strategy", "sentence", "--set", "size=75"))
        page.close()


def test_the_shown_text_is_the_document_letter_by_letter(browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/?strategy=fixed&size=100&overlap=25&post=rate-limiting.md")
    settled(page)
    shown = page.evaluate("() => document.querySelector('.cs-doc[role=document]').textContent")
    assert shown == (ROOT / "data" / "posts" / "rate-limiting.md").read_text(encoding="utf-8")
    page.close()


def test_uploaded_markup_stays_text(browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/?corpus=own&strategy=whole")
    hostile = (
        'Before <b id="probe">bold</b> <img src=x onerror="document.title=\'changed\'"> &amp; $5 and $6 *a_b* after.'
    )
    page.locator('.st-key-own_files input[type="file"]').set_input_files(
        {"name": "<img src=x>.md", "mimeType": "text/markdown", "buffer": hostile.encode()}
    )
    page.wait_for_selector(".cs-doc[role=document]", timeout=60_000)
    settled(page)
    assert page.evaluate("() => document.querySelector('.cs-doc[role=document]').textContent") == hostile
    assert page.title() == "Chunkscope"
    assert page.locator("#probe").count() == 0
    page.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_screenshots_of_both_themes_and_a_phone(browser, address: str, scheme: str, width: int) -> None:
    SHOTS.mkdir(exist_ok=True)
    page = browser.new_page(viewport={"width": width, "height": 844 if width < 500 else 800}, color_scheme=scheme)
    page.goto(f"{address}/?strategy=fixed&size=100&overlap=25&post=cache-eviction.md&question=cache-eviction-3")
    settled(page)
    background = page.evaluate("() => getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    light = sum(map(int, re.findall(r"\d+", background)[:3])) > 384
    assert light == (scheme == "light")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1"), "the page scrolls sideways"
    page.screenshot(path=str(SHOTS / f"explore-{scheme}-{width}.png"))
    page.close()
