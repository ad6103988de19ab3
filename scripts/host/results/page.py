"""Makes one HTML page of records: tables, plots of counts over parameters, distributions of raw values, a flame graph.

The page has neither scripts nor references to other files.
"""

import html
import math
import re

from host.results import records, stacks

WIDTH, HEIGHT, MARGIN = 640, 240, 60  # pixels of a plot
LETTER = 6  # and of a letter of its text
STRIP, STRIP_HEIGHT = 240, 18  # pixels of a distribution
# The colours are those of the browser's light or dark style; a wide table scrolls, and a wide picture shrinks.
STYLE = """:root { color-scheme: light dark } body { font-family: sans-serif; margin: 1em; overflow-wrap: anywhere } table { border-collapse: collapse }
.wide { overflow-x: auto } td, th { padding: 0 .6em; text-align: right; white-space: nowrap }
td:first-child, td:nth-child(2) { text-align: left } tr:nth-child(even) { background: #8882 }
svg { font: 11px sans-serif; max-width: 100%; height: auto } .runs { max-width: none } .plot text { fill: currentColor }
.axis { stroke: #888 } .value { fill: #36c } .line { stroke: #36c; fill: none }
@media (prefers-color-scheme: dark) { .value { fill: #8af } .line { stroke: #8af } }"""


def make(rows, profiles):
    """The page, as text."""
    parts = ['<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>barecpc</title>',
             '<meta name="viewport" content="width=device-width">',
             # The browser itself refuses to load anything.
             '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">',
             f"<style>{STYLE}</style></head><body><h1>barecpc</h1>"]
    for machine in dict.fromkeys(_machine(r) for r in rows.values()):
        parts.append(f"<p>{html.escape(machine)}</p>")
    parts += _plots(rows)
    if rows:
        parts.append("<h2>Counts</h2><p>Counts of a run are less the median overhead.</p><div class=\"wide\"><table><tr><th>row</th><th>event</th>"
                     "<th>count</th><th>per iteration</th><th>min</th><th>max</th><th>runs, from min to max</th><th></th></tr>")
        parts += [_line(key, r) for key, r in rows.items()]
        parts.append("</table></div>")
    folded = stacks.Stacks()
    for record in profiles:
        try:
            folded.take(record)
        except (ValueError, TypeError):
            parts.append("<p>A profile is left out: its stacks are not valid.</p>")
    if not folded.empty():
        parts.append(f"<h2>Profile</h2>{folded.flame_graph()}")
    return "\n".join([*parts, "</body></html>", ""])


def _machine(record):
    machine = record["machine"]
    host = machine.get("host")
    facts = [machine.get("arch"), machine.get("cpu"), machine.get("pmu") or "no PMU", machine.get("vmm")]
    if isinstance(host, dict):
        facts.append(f"time of the {'guest, as instructions' if host.get('clock') == 'virtual' else 'host'}")
    return ", ".join(str(fact) for fact in facts if fact)


def _line(key, r):
    cells = [html.escape(key[0]), html.escape(key[1])]
    if r["count"]:
        net = records.net(r["count"])
        cells += [r["count"]["net"], f"{r['count']['net'] / r['iterations']:.3f}", min(net), max(net), _strip(net)]
    else:
        cells += [html.escape(f"<{r['status']}>"), "-", "-", "-", "-"]
    notes = [records.disturbed(r), r.get("reason"), "interrupted" if r.get("interrupted") else "", "" if r["verified"] else "not verified"]
    cells.append(html.escape("; ".join(str(note) for note in notes if note)))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _strip(raw):
    """The values as dots between the smallest and the largest, one for each pixel.  A title, which browsers show, has the numbers."""
    low, high = min(raw), max(raw)
    places = {}
    for value in raw:
        places.setdefault(round(6 + (STRIP - 12) * ((value - low) / (high - low) if high > low else 0.5)), []).append(value)
    dots = []
    for x, values in sorted(places.items()):
        least, most = min(values), max(values)
        dots.append(f'<circle class="value" cx="{x}" cy="9" r="{min(8, 3 + math.log2(len(values))):.1f}" fill-opacity=".5">'
                    f"<title>{least}{f' to {most}' if most > least else ''}: {len(values)} of {len(raw)} runs</title></circle>")
    return (f'<svg class="runs" width="{STRIP}" height="{STRIP_HEIGHT}"><line class="axis" x1="6" x2="{STRIP - 6}" y1="9" y2="9"/>'
            f"{''.join(dots)}</svg>")


def _plots(rows):
    """A plot for each payload and event whose labels end with at least two different numbers."""
    series = {}
    for (label, event, _), r in rows.items():
        name, _, number = label.rpartition("/")
        if r["count"] and re.fullmatch(r"[0-9]{1,18}", number) and int(number) > 0:
            series.setdefault((name, event), {})[int(number)] = r["count"]["net"] / r["iterations"]
    return [f"<h2>{html.escape(f'{name}: {event} per iteration')}</h2>{_plot(points, event)}"
            for (name, event), points in series.items() if len(points) > 1]


def _short(value):
    """A number that has room within the margin."""
    text = f"{value:.3f}"
    return text if LETTER * len(text) <= 2 * MARGIN else f"{value:.6g}"


def _plot(points, event):
    """Values over a logarithmic parameter.  The heading of the plot has the event's name, too."""
    unit = "events per iteration"
    if LETTER * len(f"{event}, {unit}") <= HEIGHT:
        unit = f"{event}, {unit}"
    xs, ys = sorted(points), points.values()
    low, high = min(0, *ys), max(0, *ys)
    left = math.log(xs[0])
    span = math.log(xs[-1]) - left or 1  # large numbers may have the same logarithm
    spots = [(MARGIN + (WIDTH - 2 * MARGIN) * (math.log(x) - left) / span,
              HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * ((points[x] - low) / (high - low) if high > low else 0), x) for x in xs]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in spots)
    marks = "".join(f'<circle class="value" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{at}: {points[at]:.3f}</title></circle>'
                    f'<text x="{x:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{at}</text>'
                    f'<text x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">{_short(points[at])}</text>' for x, y, at in spots)
    base = HEIGHT - MARGIN
    middle = HEIGHT / 2
    return (f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"><line class="axis" x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{base}" y2="{base}"/>'
            f'<text x="{WIDTH / 2}" y="{HEIGHT - 16}" text-anchor="middle">the number after the last / of the row (logarithmic)</text>'
            f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">{html.escape(unit)}</text>'
            f'<polyline class="line" points="{line}"/>{marks}</svg>')
