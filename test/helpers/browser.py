# SPDX-License-Identifier: Apache-2.0
"""Pages opened in the browser of this machine, where it has one that works."""

import functools
import shutil
import tempfile

from programs import run
import pytest

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
OPTIONS = (
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-extensions',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
)


def browse(address):
    """Open an address in a browser; return the page it becomes.

    A browser that hangs now and then is asked twice; without one that works the test is skipped.
    """
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        pytest.skip(
            'needs a browser, one of ' + ', '.join(NAMES) + '; on Debian: sudo apt install chromium'
        )
    if not _gives_pages(browser):
        pytest.skip(
            f'{browser} opens no page within 20 s, twice; try: {browser} --headless '
            '--no-sandbox --dump-dom "data:text/html,<p>there</p>"'
        )
    page = _open(browser, address, 40.0) or _open(browser, address, 40.0)
    assert page, f'the browser hangs on {address}'
    return page


@functools.cache
def _gives_pages(browser):
    """Return whether a browser opens a page that cannot fail."""
    return any('there' in _open(browser, 'data:text/html,<p>there</p>', 20.0) for _ in range(2))


def _open(browser, address, timeout):
    """Return a page, empty if the browser does not end in time."""
    # a profile of its own: one that a killed browser has left is locked
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        try:
            return run(
                browser,
                *OPTIONS,
                f'--user-data-dir={profile}',
                '--dump-dom',
                address,
                timeout=timeout,
            ).stdout
        except AssertionError:
            return ''
