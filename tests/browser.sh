#!/bin/sh
# Sees to a Chromium for the browser tests: the system's, else the package manager's where rights allow, else
# Playwright's own. Where there is none the tests say why they were not run; in CI (CI=true) that is a failure.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if "$name" --version >/dev/null 2>&1; then exit 0; fi
done
echo "No Chromium found: trying to install one for the browser tests."
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null 2>&1 && exit 0
fi
.venv/bin/python -m playwright install chromium >/dev/null 2>&1 && exit 0
echo "No Chromium could be installed: the browser tests will be skipped (and fail in CI)."
exit 0
