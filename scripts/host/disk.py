"""`barecpc disk` makes a disk that a cloud imports: the image, the payloads, and the job as its command line.

Google, "Manually import boot disks": an archive of GNU tar's old format with the member disk.raw, of whole GiB.  Microsoft,
"Prepare Linux for imaging in Azure": a fixed VHD of whole MiB.  Microsoft, "Virtual Hard Disk Image Format Specification".
"""

import dataclasses
import hashlib
import os
import pathlib
import subprocess
import tempfile

from host.emulator.qemu import HostError, make_disk, missing

FOOTER_BYTES, STAMP_AT, CHECKSUM_AT, ID_AT = 512, 24, 64, 68  # of a VHD's footer
BEFORE_2000 = 946684800  # seconds of Unix's clock; a VHD's begins in 2000
DATE = 1704067200  # as scripts/mkdisk's


def tool(*words):
    """Run a program.  Its last line is the error's."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    except FileNotFoundError:
        raise missing(words[0]) from None
    if done.returncode != 0:
        raise HostError((done.stderr.strip().splitlines() or [f"{words[0]}: status {done.returncode}"])[-1])


def date():
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(given) if given.isdecimal() else DATE


def make_tar(raw, out):
    tool("tar", "--format=oldgnu", "-S", "--hole-detection=raw", "--owner=0", "--group=0", "--numeric-owner", "--mode=644",
         f"--mtime=@{date()}", "-I", "gzip -n", "-C", raw.parent, "-cf", out, raw.name)


def sum_of(path):
    """The SHA-256 of a file, which may be larger than memory."""
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.digest()


def make_vhd(raw, out):
    """qemu-img takes time and identity of a VHD from the clock and by chance: these two come from the date and the contents."""
    tool("qemu-img", "convert", "-f", "raw", "-O", "vpc", "-o", "subformat=fixed,force_size=on", raw, out)
    with open(out, "r+b") as file:
        file.seek(-FOOTER_BYTES, os.SEEK_END)
        footer = bytearray(file.read())
        footer[STAMP_AT:STAMP_AT + 4] = (max(date() - BEFORE_2000, 0) & 0xffffffff).to_bytes(4, "big")
        footer[ID_AT:ID_AT + 16] = sum_of(raw)[:16]
        footer[CHECKSUM_AT:CHECKSUM_AT + 4] = bytes(4)
        footer[CHECKSUM_AT:CHECKSUM_AT + 4] = (sum(footer) ^ 0xffffffff).to_bytes(4, "big")
        file.seek(-FOOTER_BYTES, os.SEEK_END)
        file.write(footer)


@dataclasses.dataclass(frozen=True)
class Format:
    """The form that a cloud takes.  A name ends in `suffix`."""

    mib: int  # the disk's size is a multiple of it
    suffix: str = ""
    make: object = os.replace


FORMATS = {"raw": Format(1), "gce": Format(1024, ".tar.gz", make_tar), "vhd": Format(1, ".vhd", make_vhd)}


def check(out, name):
    """Raise HostError unless the format of this name can be written to this file."""
    if not out.name.endswith(FORMATS[name].suffix):
        raise HostError(f"-o {out}: {name} takes only names that end in {FORMATS[name].suffix}")
    if out.exists() and not out.is_file():
        raise HostError(f"-o {out}: not a file: name a new file")
    if not out.parent.is_dir():
        raise HostError(f"-o {out}: {out.parent}: no such folder")


def write(out, name, images, cmdline, archive):
    """Write a disk in the format of this name.  Returns its MiB."""
    kind = FORMATS[name]
    with tempfile.TemporaryDirectory(prefix=".barecpc.", dir=out.absolute().parent) as place:
        raw, made = pathlib.Path(place, "disk.raw"), pathlib.Path(place, f"made{kind.suffix}")
        make_disk(raw, images, cmdline, archive, ["--multiple", str(kind.mib)])
        mib = raw.stat().st_size >> 20
        kind.make(raw, made)
        os.replace(made, out)
    return mib
