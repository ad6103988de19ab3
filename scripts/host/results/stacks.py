"""Turns the stacks in records of the payload `record` into folded lines and a flame graph.

A folded line has the frames of a stack, the outermost first, with semicolons
between them.  A blank and the number of samples follow.  flamegraph.pl,
speedscope and inferno read this format.
"""

import zlib

from host.results import records

WIDTH = 1200.0  # pixels, of all samples
ROW = 18
MARGIN = 10
CHARACTER = 7.0  # width of a monospace character of 12 pixels
NARROWEST = 0.2  # a frame thinner than this is not drawn

# Limits, because any program can write a record.
MAX_FRAMES = 500
MAX_SAMPLES = 1 << 63


class Frame:
    """A function, as called by the frame below: its samples, callees included, and its callees."""

    def __init__(self):
        self.samples = 0
        self.callees = {}

    def add(self, names, samples):
        frame = self
        frame.samples += samples
        for name in names:
            frame = frame.callees.setdefault(name, Frame())
            frame.samples += samples


class Stacks:
    """The stacks of all records that it was fed."""

    def __init__(self):
        self._samples = {}

    def take(self, record):
        """Add a record's stacks.  Raises ValueError if a record of `record` has invalid stacks."""
        if record.get("payload") != "record":
            return
        folded = record.get("folded", [])
        for entry in folded if isinstance(folded, list) else [folded]:
            match entry:
                case [str(stack), int(samples)] if 0 < samples < MAX_SAMPLES and stack.count(";") < MAX_FRAMES:
                    stack = records.clean(stack)
                    self._samples[stack] = self._samples.get(stack, 0) + samples
                case _:
                    raise ValueError("it has stacks that the payload `record` does not write")

    def empty(self):
        return not self._samples

    def folded(self):
        return "".join(f"{stack} {samples}\n" for stack, samples in sorted(self._samples.items()))

    def flame_graph(self):
        """An SVG image in one file.  A frame's title, which viewers show, has its numbers."""
        root, depth = Frame(), 1
        for stack, samples in sorted(self._samples.items()):
            names = stack.split(";")
            root.add(names, samples)
            depth = max(depth, 1 + len(names))
        height = depth * ROW + 2 * MARGIN
        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * MARGIN:g}" viewBox="0 0 {WIDTH + 2 * MARGIN:g} {height}" '
                 'font-family="monospace" font-size="12">',
                 '<rect width="100%" height="100%" fill="#fffff8"/>']
        if root.samples:
            _draw(lines, "all", root, root.samples, MARGIN, height - MARGIN - ROW)
        return "\n".join([*lines, "</svg>", ""])


def _colour(name):
    """A warm colour, blue for the kernel's functions.  A name has the same colour in every graph."""
    hue = zlib.crc32(name.encode())
    light = 55 + hue % 20
    return f"hsl({210 if name.endswith('_[k]') else 10 + hue // 32 % 40},75%,{light}%)"


def _draw(lines, name, frame, total, x, y):
    """Draw a frame and, above it, its callees.  Stacks are deeper than Python's own may be."""
    import html  # slow to load, and most commands draw nothing
    waiting = [(name, frame, x, y)]
    while waiting:
        name, frame, x, y = waiting.pop()
        width = WIDTH * frame.samples / total
        if width < NARROWEST:
            continue
        room = int((width - 4) / CHARACTER)
        text = name if len(name) <= room else name[:room - 2] + ".." if room > 4 else ""
        lines.append(f"<g><title>{html.escape(name)} ({frame.samples} samples, {100 * frame.samples / total:.2f}%)</title>"
                     f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 1}" fill="{_colour(name)}" rx="1"/>'
                     f'<text x="{x + 3:.2f}" y="{y + ROW - 5}">{html.escape(text)}</text></g>')
        above = []
        for callee, below in sorted(frame.callees.items()):
            above.append((callee, below, x, y - ROW))
            x += WIDTH * below.samples / total
        waiting += reversed(above)
