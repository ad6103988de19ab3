"""Writes a profile in the formats of perf script, pprof and speedscope, and folded (docs/stat.md)."""

import collections
import gzip
import json
import re

from host.results import profiles, records

# perf script: man perf-script.  Flame graphs and many viewers read this text.


def perf_script(profile):
    event, period = records.event_name(profile.head), profile.head["period"]
    text = []
    for s in profile.samples:
        text.append(f"{_word(s.program)} {s.pid}/{s.tid} {s.time // 10**9}.{s.time // 1000 % 10**6:06}: {period:>10} {event}: \n")
        text += [f"\t{f.address:16x} {f.symbol} ({_word(f.path)})\n" for f in s.frames]
        text.append("\n")
    return "".join(text)


def _word(name):
    """perf's readers separate fields by blanks."""
    return re.sub(r"\s", "_", name)


def folded(profile):
    """A line for each stack, the outermost function first, and its samples: as --folded, with demangled names."""
    stacks = collections.Counter(
        ";".join([s.program.replace(";", ":"), *(f.symbol.replace(";", ":") + ("_[k]" if f.kernel else "") for f in reversed(s.frames))])
        for s in profile.samples)
    return "".join(f"{stack} {count}\n" for stack, count in sorted(stacks.items()))


# speedscope: https://www.speedscope.app/file-format-schema.json


def speedscope(profile):
    frames, places = [], {}

    def place(f):
        file = f.places[-1][1].rpartition(":")[0]
        key = f.symbol, f.program, file
        if key not in places:
            places[key] = len(frames)
            frames.append({"name": f.symbol + ("_[k]" if f.kernel else ""), **({"file": file} if file else {})})
        return places[key]

    threads = {}
    for s in profile.samples:
        threads.setdefault((s.pid, s.tid), []).append(s)
    period = profile.head["period"]
    made = [{"type": "sampled", "name": f"{samples[0].program}-{tid}", "unit": "none", "startValue": 0, "endValue": period * len(samples),
             "samples": [[place(f) for f in reversed(s.frames)] for s in samples], "weights": [period] * len(samples)}
            for (_, tid), samples in sorted(threads.items())]
    return json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames}, "profiles": made,
                       "name": profile.title(), "activeProfileIndex": 0, "exporter": "barecpc"}) + "\n"


# pprof: profile.proto of github.com/google/pprof, in the encoding of protobuf ("Encoding" of protobuf.dev): a message is
# a sequence of fields.  Two kinds of field suffice: numbers, and bytes with their length.


def _number(value):
    value &= profiles.ALL_BITS  # protobuf's form of a negative number
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def _field(field, value):
    if isinstance(value, int):
        return _number(field << 3) + _number(value) if value else b""
    return _number(field << 3 | 2) + _number(len(value)) + value


def _message(*fields):
    return b"".join(_field(number, value) for number, value in fields)


def pprof(profile):
    """The gzipped Profile message."""
    strings, mappings, functions, locations = {"": 0}, {}, {}, {}

    def text(word):
        return strings.setdefault(word, len(strings))

    def mapping(f):
        return mappings.setdefault((f.path, f.program), len(mappings) + 1)

    def line(symbol, place):
        file, _, number = place.rpartition(":")
        function = functions.setdefault((symbol, file), len(functions) + 1)
        return _message((1, function), (2, int(number or 0)))

    def location(f):
        return locations.setdefault(f, len(locations) + 1)

    event, period = records.event_name(profile.head), profile.head["period"]
    counts = collections.Counter((tuple(s.frames), s.tid) for s in profile.samples)
    samples = [_message((1, b"".join(_number(location(f)) for f in frames)), (2, _number(count) + _number(count * period)),
                        (3, _message((1, text("thread")), (3, tid)))) for (frames, tid), count in sorted(counts.items(), key=str)]
    types = [_message((1, text("samples")), (2, text("count"))), _message((1, text(event)), (2, text("events")))]
    placed = [_message((1, number), (2, mapping(f)), (3, f.address), *((4, line(*place)) for place in f.places))
              for f, number in locations.items()]
    maps = [_message((1, number), (3, 2**63 - 1), (5, text(path)), (6, text(profile.files.get(program, {}).get("build_id", ""))),
                     (7, 1), (8, 1), (9, 1)) for (path, program), number in mappings.items()]
    named = [_message((1, number), (2, text(symbol)), (3, text(symbol)), (4, text(file))) for (symbol, file), number in functions.items()]
    last = [(11, types[1]), (12, period)]
    parts = [(1, t) for t in types] + [(2, s) for s in samples] + [(3, m) for m in maps] + [(4, p) for p in placed] + \
        [(5, f) for f in named] + [(6, word.encode()) for word in strings] + last
    return gzip.compress(_message(*parts), mtime=0)


FORMATS = {"perf-script": perf_script, "pprof": pprof, "speedscope": speedscope, "folded": folded}
