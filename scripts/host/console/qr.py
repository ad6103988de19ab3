"""Brings records home from pictures of a screen with QR codes (payloads/tools/pages.c).

Each code has 16 bytes, little-endian, and a part of the records, compressed by zlib: "BCQ1", its number from 0, the number
of codes, then the bytes and the CRC-32 of all that is compressed."""

import shutil
import struct
import subprocess
import zlib

from host.emulator.qemu import HostError

HEAD = struct.Struct("<4sHHII")
MAGIC = b"BCQ1"
MAX_BYTES = 64 << 20  # of records


def codes(picture):
    """The bytes of the QR codes in a picture, one after the other."""
    if not shutil.which("zbarimg"):
        raise HostError("zbarimg not found: install the package zbar-tools")
    if not picture.is_file():
        raise HostError(f"{picture}: no such file")
    done = subprocess.run(["zbarimg", "--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", "-Sbinary", picture],
                          capture_output=True, check=False)
    if done.returncode not in (0, 4):  # 4: it found none
        raise HostError(f"{picture}: not a picture that zbarimg reads: {done.stderr.decode(errors='replace').strip()[-200:]}")
    return done.stdout


class Parts:
    """The parts of one run."""

    def __init__(self):
        self._run = None  # how many parts, bytes, CRC
        self._parts = {}

    def add(self, data, name):
        """Take a part.  Returns False if the data has no part."""
        if len(data) < HEAD.size or not data.startswith(MAGIC):
            return False
        _, number, *run = HEAD.unpack_from(data)
        if self._run not in (None, run):
            raise HostError(f"{name}: of another run than the other pictures: give those of one run")
        if number >= run[0]:
            raise HostError(f"{name}: part {number + 1} of {run[0]}: take the picture again")
        self._run = run
        self._parts[number] = data[HEAD.size:]
        return True

    @property
    def missing(self):
        """The numbers of parts that are missing, from 1; None if there is no part."""
        return None if self._run is None else [n + 1 for n in range(self._run[0]) if n not in self._parts]

    def records(self):
        """The records, as lines.  All parts must be there."""
        _, length, crc = self._run
        packed = b"".join(self._parts[n] for n in range(self._run[0]))[:length]
        if len(packed) != length or zlib.crc32(packed) != crc:
            raise HostError("the QR codes do not agree with their CRC: take the pictures again")
        unpack = zlib.decompressobj()
        try:
            lines = unpack.decompress(packed, MAX_BYTES)
        except zlib.error as error:
            raise HostError(f"the QR codes hold no records: {error}") from None
        if not unpack.eof:
            raise HostError(f"the QR codes hold more than {MAX_BYTES >> 20} MiB")
        return lines


def read(pictures, say):
    """The records in these pictures."""
    parts = Parts()
    for picture in pictures:
        if not parts.add(codes(picture), picture):
            say(f"host: {picture}: no QR code of barecpc is readable: take a sharper picture")
    if parts.missing is None:
        raise HostError("no picture has a QR code of barecpc")
    if parts.missing:
        raise HostError(f"pictures are missing: {', '.join(map(str, parts.missing))}")
    return parts.records()
