"""speedscope, which reads several formats of profiles, in a headless browser: for tests of `barecpc export`.

Its npm package has the page and the schema of its own format.
"""

import base64
import html
import json
import pathlib
import re
import subprocess
import urllib.parse

from readers import unpack_npm

BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom"]


class Speedscope:
    """The unpacked package below a folder.  `missing` says why it is absent."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._release = self._folder / "node_modules" / "speedscope" / "dist" / "release"
        self.missing = unpack_npm(self._folder, "speedscope")

    @property
    def schema(self):
        return self._release / "file-format-schema.json"

    def shares(self, file):
        """The percentage of each function of the first thread in a profile, without its callers."""
        script = self._folder / "load.js"
        text = base64.b64encode(file.read_bytes()).decode()
        script.write_text(f"speedscope.loadFileFromBase64({json.dumps(file.name)}, {json.dumps(text)})")
        page = f"{(self._release / 'index.html').as_uri()}#view=sandwich&localProfilePath={urllib.parse.quote(str(script))}"
        done = subprocess.run([*BROWSER, page], capture_output=True, text=True, timeout=600)
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", done.stdout, re.S)
        found = [(re.findall(r"\(&lt;?([\d.]+)%\)|\(([\d.]+)%\)", row), re.search(r"</span>([^<]*)</td>", row)) for row in rows]
        return {html.unescape(name[1]): float(parts[1][0] or parts[1][1]) for parts, name in found if name and len(parts) == 2}
