"""Unpacks what the program `pack` sent: payloads/pack/pack.h and fold.c describe blocks and lines.

Nothing here trusts the guest: a block, the blocks that wait for their dictionary, and all text are bounded."""

import base64
import contextlib
import json
import math
import re
import zlib

MEMBER = "json-z"
MAX_BLOCK = 1 << 20  # bytes of a block's lines: a record has 256 KiB at most
MAX_ALL = 256 << 20  # of all blocks, and of all records
MAX_RECORDS = 1 << 20
MAX_VALUES = 32_000  # of a record's series: each has 1,000 runs at most
MOST_RANGES = 8
FOLDED = re.compile(rb"[\x01\x03]([^\x01-\x03]*)\x02")
SERIES = re.compile(rb"(-?\d{1,16})(?:\*(\d{1,6})|;((?:\d{0,16},)*\d{0,16}))\Z")
SHORT = ("payload", "label", "event", "privilege")
WIDTHS = (15, 13, 12, 12, 8, 8)
PRESET = 0x20  # FDICT of RFC 1950, section 2.2


def ratio(value, divisor):
    """As ratio_text() of series.c: three decimals, rounded half away from zero."""
    milli = (abs(value) * 1000 + divisor // 2) // divisor
    return f"{'-' if value < 0 and milli else ''}{milli // 1000}.{milli % 1000:03}"


def error(values, total):
    """As error_of() of series.c, in the same order of operations."""
    n, squares = len(values), 0.0
    mean = float(total - n * values[0]) / n
    for value in values:
        off = float(value - values[0]) - mean
        squares += off * off
    return math.sqrt(squares / (n - 1) / n) if n > 1 else 0.0


class Series:
    """Aggregates of raw values, as series_json() writes them."""

    def __init__(self, text):
        match = SERIES.match(text)
        if not match or (match[2] and not 0 < int(match[2]) <= MAX_VALUES):
            raise ValueError("a series is damaged")
        least = int(match[1])
        raw = [least] * int(match[2]) if match[2] else [least + int(word or 0) for word in match[3].split(b",")]
        ordered, n = sorted(raw), len(raw)
        self.values = n
        inner = ordered[n // 5:n - n // 5]
        self.median, self.range = ordered[(n - 1) // 2], ordered[-1] - ordered[0]
        self.text = (f'{{"min":{ordered[0]},"median":{self.median},"max":{ordered[-1]},"range":{self.range},'
                     f'"negative":{sum(value < 0 for value in raw)},"mean":{ratio(sum(raw), n)},'
                     f'"trimmed_mean":{ratio(sum(inner), len(inner))},"standard_error":{error(ordered, sum(raw)):.3f},'
                     f'"at_minimum":{ratio(ordered.count(ordered[0]), n)},"raw":[{",".join(map(str, raw))}]}}')


def _quantity(match, room):
    series = []
    for text in match[1].split(b"|", 1):
        series.append(Series(text))
        room[0] -= series[-1].values
        if room[0] < 0:
            raise ValueError(f"a record has more than {MAX_VALUES} values")
    if match[0][0] == 3:
        return series[0].text.encode()
    net = series[0].median - (series[1].median if len(series) > 1 else 0)
    larger = "true" if any(one.range > abs(net) for one in series) else "false"
    over = series[1].text if len(series) > 1 else "null"
    return f'{{"net":{net},"spread_larger":{larger},"measured":{series[0].text},"overhead":{over}}}'.encode()


def unfold(line):
    """A record as the program wrote it."""
    room = [MAX_VALUES]
    return FOLDED.sub(lambda match: _quantity(match, room), line)


def _with_machine(line, before):
    """The record with its machine, which may be that of the record before, and the machine."""
    if line.endswith(b"\4"):
        return line[:-1] + before, before
    at = line.find(b'"machine":{')
    return line, line[at:] if at >= 0 else before


def row(event, line):
    """The row of the table for a record: REPORT_ROW of report.h."""
    record = json.loads(line, parse_float=str, parse_int=str)
    count, times = record["count"], [record[name] and record[name]["net"] for name in ("tick", "hrtime_ns")]
    over = count and count["overhead"] and count["overhead"]["median"]
    numbers = (count and count["net"], record["per_iteration"], *times, count and count["measured"]["range"], over)
    words = [record["label"].encode().ljust(16), event.ljust(18)]
    return b" ".join(words + [(number or "-").encode().rjust(width) for number, width in zip(numbers, WIDTHS)]) + b"\n"


def short(number, line):
    """A short record, or None: the record was no measurement."""
    words = line.split(b"\t")[1:]
    if not words:
        return None
    if len(words) != len(SHORT) + 5:
        raise ValueError("a short record is damaged")
    texts = [json.loads(b'"' + word + b'"') for word in (*words[:len(SHORT)], words[-1])]
    known = words[4] != b""
    net = int(words[4]) if known else None
    least = net + int(words[5]) if known else None
    facts = dict(zip(SHORT[1:], texts[1:])) | {"net": net, "min": least, "max": least + int(words[6]) if known else None,
                                               "runs": int(words[7]), "status": texts[-1]}
    return json.dumps({"schema": 1, "payload": texts[0], "short": {"number": number} | facts}, ensure_ascii=False, separators=(",", ":")).encode()


def ranges(numbers):
    """Numbers as text: 1 to 3, 7."""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    words = [f"{first}" if first == last else f"{first} to {last}" for first, last in found[:MOST_RANGES]]
    return ", ".join(words + (["..."] if len(found) > MOST_RANGES else []))


class Packed:
    """The blocks of a run.  record(line) gets each record once, text(bytes) the programs' stdout, fault(why) what is wrong."""

    def __init__(self, record, text, fault):
        self._record, self._text, self._fault = record, text, fault
        self._dictionaries = {}
        self._waiting = []  # blocks whose dictionary has not come
        self._bytes = 0
        self._full, self._short = set(), {}
        self._text_at = 0
        self._text_lost = 0
        self.total = None  # records and bytes of text of the run

    def take(self, value):
        """Take the member json-z of a record."""
        with self._named():
            self._block(base64.b64decode(value, validate=True))

    @contextlib.contextmanager
    def _named(self):
        try:
            yield
        except (TypeError, ValueError, LookupError, AttributeError, zlib.error, RecursionError) as error:
            self._fault(f"a packed block is damaged, and left out: {error}")

    def _block(self, data):
        if len(data) < 6:
            raise ValueError(f"{len(data)} bytes")
        key = int.from_bytes(data[2:6], "big") if data[1] & PRESET else None
        if key is not None and key not in self._dictionaries:
            self._count(len(data))
            self._waiting.append((key, data))
            return
        unpack = zlib.decompressobj(zdict=self._dictionaries[key]) if key is not None else zlib.decompressobj()
        lines = unpack.decompress(data, MAX_BLOCK)
        if not unpack.eof or unpack.unused_data:
            raise ValueError(f"it has more than {MAX_BLOCK >> 10} KiB, or no end")
        self._count(len(lines))
        with self._named():
            self._lines(lines)
        if key is None:
            self._dictionary(lines)

    def _dictionary(self, lines):
        key = zlib.adler32(lines)
        self._dictionaries[key] = lines
        ready = [data for wanted, data in self._waiting if wanted == key]
        self._waiting = [(wanted, data) for wanted, data in self._waiting if wanted != key]
        for data in ready:
            with self._named():
                self._block(data)

    def _count(self, length):
        self._bytes += length
        if self._bytes > MAX_ALL:
            raise ValueError(f"all of them have more than {MAX_ALL >> 20} MiB")

    def _lines(self, block):
        head, *lines = block.split(b"\n")[:-1]
        number, at = map(int, head.split())
        event, machine, short_number = None, b"", 0
        new = at >= self._text_at and number > 0
        if new:
            self._text_lost += at - self._text_at
            self._text_at = at
        for line in lines:
            kind, rest = line[:1], line[1:]
            if kind == b"r":
                rest, machine = _with_machine(unfold(rest), machine)
                self._count(len(rest))
                if event is not None and new:
                    self._pass_text(row(event, rest))
                event = None
                self._one(number, rest)
                number += 1
            elif kind in (b"t", b"u") and new:
                self._pass_text(rest + (b"\n" if kind == b"t" else b""))
            elif kind == b"v":
                event = rest
            elif kind == b"S":
                short_number = int(rest)
            elif kind == b"s":
                if not 0 < short_number <= MAX_RECORDS:
                    raise ValueError(f"short record {short_number}")
                self._short[short_number] = short(short_number, rest)
                short_number += 1
            elif kind == b"e":
                records, text = map(int, rest.split())
                self.total = records, text
            elif kind not in (b"t", b"u"):
                raise ValueError(f"a line begins with {kind!r}")

    def _pass_text(self, text):
        self._text(text)
        self._text_at += len(text)

    def _one(self, number, record):
        if not 0 < number <= MAX_RECORDS:
            raise ValueError(f"record {number}")
        if number not in self._full:
            self._full.add(number)
            self._record(record)

    def end(self):
        """All blocks have come: pass on the short records of those without a full one.

        Returns whether the run used `pack` and everything came, and lines on what did not."""
        if self.total is None and not (self._full or self._waiting):
            return False, []
        for number in sorted(set(self._short) - self._full):
            if self._short[number] is not None:
                self._record(self._short[number])
        records, text = self.total or (max(self._full | set(self._short), default=0), self._text_at)
        missing = [number for number in range(1, min(records, MAX_RECORDS) + 1) if number not in self._full]
        shorts = [number for number in missing if self._short.get(number)]
        gone = [number for number in missing if not self._short.get(number)]
        lost_text = self._text_lost + max(0, text - self._text_at)
        lines = []
        if self.total is None:
            lines.append("the end of the packed records is lost: how many there were is not known")
        if self._waiting:
            lines.append(f"packed blocks without their dictionary: {len(self._waiting)}: their records are lost")
        if shorts:
            lines.append(f"records that are short: {len(shorts)} of {records} ({ranges(shorts)})")
        if gone:
            lines.append(f"records that are lost: {len(gone)} of {records} ({ranges(gone)})")
        if lost_text:
            lines.append(f"bytes of the programs' output that are lost: {lost_text}")
        return not lines, lines
