#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""Records from QR codes: the parts may come in any order and more than once.  A part that is missing, foreign or changed
is reported, and then there are no records."""

import pathlib
import random
import struct
import zlib

from host.console import qr
from host.emulator.qemu import HostError
from qmp_guest import Points

ROOT = pathlib.Path(__file__).resolve().parents[3]

LINES = b"".join(b'{"record":%d}\n' % n for n in range(2000))


def parts_of(lines, part=981):
    """The bytes of each QR code."""
    packed = zlib.compress(lines, 9)
    starts = range(0, len(packed), part)
    return [struct.pack("<4sHHII", b"BCQ1", n, len(starts), len(packed), zlib.crc32(packed)) + packed[at:at + part]
            for n, at in enumerate(starts)]


def read(codes):
    """The records, or the message."""
    parts = qr.Parts()
    try:
        for n, data in enumerate(codes):
            if not parts.add(data, f"picture {n}"):
                return "no part"
        return f"missing {parts.missing}" if parts.missing else parts.records()
    except HostError as error:
        return str(error)


def changed(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def main():
    points, codes = Points(), parts_of(LINES)
    mixed = codes * 2
    random.Random(1).shuffle(mixed)
    points.check(len(codes) > 2 and read(mixed) == LINES, "parts in any order, each twice")
    points.check(read(codes[:1] + codes[2:]) == "missing [2]", "a missing part")
    points.check("of another run" in read(codes[:1] + parts_of(LINES + b"{}\n")[1:]), "a part of another run")
    points.check(read([changed(codes[0], 100), *codes[1:]]).startswith("the QR codes do not agree with their CRC"), "a changed part")
    points.check("take the picture again" in read([codes[0][:4] + b"\xff\xff" + codes[0][6:]]), "a number beyond the last")
    points.check(read([b"BCQ1"]) == read([b""]) == read([b"https://example.org/a-long-address"]) == "no part", "codes of others")
    packed = b"no deflate stream"
    points.check("hold no records" in read([struct.pack("<4sHHII", b"BCQ1", 0, 1, len(packed), zlib.crc32(packed)) + packed]),
                 "data that zlib did not make")
    bomb = zlib.compress(bytes(qr.MAX_BYTES + 1))
    points.check("more than" in read([struct.pack("<4sHHII", b"BCQ1", 0, 1, len(bomb), zlib.crc32(bomb)) + bomb]), "too many records")
    return points.end()


raise SystemExit(main())
