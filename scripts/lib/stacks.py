"""Profiles: the stacks in the records of the payload `record`, as folded lines and as a flame graph.

A folded line has the frames of a stack, the outermost first, with semicolons
between them.  A blank and the number of samples follow.  flamegraph.pl,
speedscope and inferno read this format.
"""

import html
import zlib

WIDTH = 1200.0  # pixels, of all samples
ROW = 18
MARGIN = 10
CHARACTER = 7.0  # width of one at 12 pixels, monospace
NARROWEST = 0.2  # a frame thinner than this is not drawn

# A record may be any program's.
MAX_FRAMES = 500
MAX_SAMPLES = 1 << 63


class Frame:
    """A function as called by what lies below it: its samples, and those of its callees among them."""

    def __init__(self):
        self.samples = 0
        self.callees = {}

    def add(self, names, samples):
        self.samples += samples
        if names:
            self.callees.setdefault(names[0], Frame()).add(names[1:], samples)

    def depth(self):
        return 1 + max((frame.depth() for frame in self.callees.values()), default=0)


class Stacks:
    """Feed it records; it keeps the stacks of those that have any."""

    def __init__(self):
        self._samples = {}

    def take(self, record):
        """Raises ValueError or TypeError for a record that only looks like one of `record`'s."""
        if not isinstance(record, dict) or record.get("payload") != "record":
            return
        for entry in record.get("folded", []):
            match entry:
                case [str(stack), int(samples)] if 0 < samples < MAX_SAMPLES and stack.count(";") < MAX_FRAMES:
                    self._samples[stack] = self._samples.get(stack, 0) + samples
                case _:
                    raise ValueError("its stacks are not those of the payload `record`")

    def empty(self):
        return not self._samples

    def folded(self):
        return "".join(f"{stack} {samples}\n" for stack, samples in sorted(self._samples.items()))

    def flame_graph(self):
        """An SVG image that needs nothing else; a frame's title, which viewers show, has its numbers."""
        root = Frame()
        for stack, samples in sorted(self._samples.items()):
            root.add(stack.split(";"), samples)
        height = root.depth() * ROW + 2 * MARGIN
        lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * MARGIN:g}" height="{height}" '
                 'font-family="monospace" font-size="12">',
                 '<rect width="100%" height="100%" fill="#fffff8"/>']
        if root.samples:
            _draw(lines, "all", root, root.samples, MARGIN, height - MARGIN - ROW)
        return "\n".join([*lines, "</svg>", ""])


def _colour(name):
    """Warm, and the same for a name in every graph; the kernel's are blue."""
    hue = zlib.crc32(name.encode())
    light = 55 + hue % 20
    return f"hsl({210 if name.endswith('_[k]') else 10 + hue // 32 % 40},75%,{light}%)"


def _draw(lines, name, frame, total, x, y):
    width = WIDTH * frame.samples / total
    if width < NARROWEST:
        return
    room = int((width - 4) / CHARACTER)
    text = name if len(name) <= room else name[:room - 2] + ".." if room > 4 else ""
    lines.append(f"<g><title>{html.escape(name)} ({frame.samples} samples, {100 * frame.samples / total:.2f}%)</title>"
                 f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 1}" fill="{_colour(name)}" rx="1"/>'
                 f'<text x="{x + 3:.2f}" y="{y + ROW - 5}">{html.escape(text)}</text></g>')
    for callee, below in sorted(frame.callees.items()):
        _draw(lines, callee, below, total, x, y - ROW)
        x += WIDTH * below.samples / total
