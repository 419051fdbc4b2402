# SPDX-License-Identifier: Apache-2.0
"""Say which pages of a site scroll sideways at a width: page_widths.py FOLDER PIXELS.

Opens each page in Qt's browser (PyQt6-WebEngine) and prints a JSON list of [page, width asked
for, width it takes]. What lies in a box that scrolls by itself does not count; a table does where
the window is that of a desktop.
"""

import json
import os
from pathlib import Path
import sys

from PyQt6.QtCore import QTimer, QUrl
from PyQt6.QtWebEngineWidgets import QWebEngineView
from PyQt6.QtWidgets import QApplication

WIDTHS = """(() => {
  const page = document.documentElement, desktop = page.clientWidth > 1000
  const tables = desktop ? [...document.querySelectorAll('.table-wrapper')] : []
  const hidden = Math.max(0, ...tables.map(each => each.scrollWidth - each.clientWidth))
  return [page.clientWidth, Math.max(page.scrollWidth, page.clientWidth + hidden)].join()
})()"""
PATIENCE = 600.0  # s for all pages


def main(folder, pixels):
    """Print the pages of a folder that are wider than the window."""
    pages = sorted(
        page for page in folder.rglob('*.html') if not page.relative_to(folder).parts[0][0] == '_'
    )
    app = QApplication(sys.argv[:1])
    view = QWebEngineView()
    view.resize(pixels, 900)
    view.show()
    wide, left = [], list(pages)

    def open_next():
        if left:
            view.load(QUrl.fromLocalFile(str(left[0])))
        else:
            app.quit()

    def look(answer):
        there, needed = map(int, answer.split(','))
        page = left.pop(0)
        if needed > there + 1:
            wide.append([str(page.relative_to(folder)), there, needed])
        open_next()

    view.loadFinished.connect(
        lambda _: QTimer.singleShot(250, lambda: view.page().runJavaScript(WIDTHS, 0, look))
    )
    open_next()
    QTimer.singleShot(int(1e3 * PATIENCE), app.quit)
    app.exec()
    if left:
        sys.exit(f'{left[0]} was not opened within {PATIENCE:g} s')
    print(json.dumps(wide))


if __name__ == '__main__':
    os.environ.setdefault('QT_QPA_PLATFORM', 'offscreen')
    os.environ.setdefault('QTWEBENGINE_CHROMIUM_FLAGS', '--no-sandbox --disable-gpu')
    main(Path(sys.argv[1]).resolve(), int(sys.argv[2]))
