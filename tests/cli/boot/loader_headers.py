#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""The headers that loaders read say what the files are.

They are read here as each loader reads them: PE and Linux's setup header by scripts/build/mkefi, ISO 9660 and El Torito by
scripts/mkdisk.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

from qmp_guest import ROOT, Points

SECTOR = 2048
PARTITION = 1 << 20
NX_COMPAT, WRITE_EXECUTE = 0x100, 0xA0000000


def check_pe(points, name, data, machine):
    pe, = struct.unpack_from("<I", data, 0x3C)
    points.check(pe < 0x180 and data[pe:pe + 4] == b"PE\0\0", f"{name}: rEFInd finds the PE header", hex(pe))
    kind, count = struct.unpack_from("<HH", data, pe + 4)
    room, = struct.unpack_from("<H", data, pe + 20)
    entry, = struct.unpack_from("<I", data, pe + 24 + 16)
    total, head = struct.unpack_from("<II", data, pe + 24 + 56)
    points.check(kind == machine and total == len(data), f"{name}: machine and size", hex(kind), total, len(data))
    sections = [struct.unpack_from("<8sIIIIIIHHI", data, pe + 24 + room + 40 * i) for i in range(count)]
    ends = [head] + [s[2] + s[3] for s in sections]
    points.check(all(s[2] == s[4] == end for s, end in zip(sections, ends)) and ends[-1] == len(data),
                 f"{name}: sections follow each other to the end of the file", *sections)
    text = next(s for s in sections if s[0].rstrip(b"\0") == b".text")
    points.check(text[2] <= entry < text[2] + text[1], f"{name}: the entry is in .text", hex(entry))
    points.check(pe + 24 + room + 40 * count <= head, f"{name}: headers end in the first page")
    # systemd-stub starts no kernel whose image version is 0: that one would not take the initrd by LoadFile2.
    major, = struct.unpack_from("<H", data, pe + 24 + 44)
    points.check(major == 1, f"{name}: the image version says that it takes an initrd", major)
    flags, = struct.unpack_from("<H", data, pe + 24 + 70)
    points.check(flags & NX_COMPAT and all(s[9] & WRITE_EXECUTE != WRITE_EXECUTE for s in sections),
                 f"{name}: NX_COMPAT, and no section is written and executed", hex(flags), *sections)
    return pe + 24 + room + 40 * count


def check_setup(points, data, end):
    """Linux, Documentation/arch/x86/boot.rst, "Details of Header Fields"; what kexec_file_load asks for."""
    sectors, = struct.unpack_from("<B", data, 0x1F1)
    size, = struct.unpack_from("<I", data, 0x1F4)
    version, = struct.unpack_from("<H", data, 0x206)
    flags, = struct.unpack_from("<H", data, 0x236)
    memory, = struct.unpack_from("<I", data, 0x260)
    points.check(end <= 0x1F1, "bzImage: the PE header ends before the setup header", hex(end))
    points.check(data[0x202:0x206] == b"HdrS" and data[0x1FE:0x200] == b"\x55\xaa" and version >= 0x20C, "bzImage: it has the header")
    points.check(flags & 0x23 == 0x23, "bzImage: 64-bit entry, above 4 GiB, with five-level paging", hex(flags))
    start = (sectors + 1) * 512
    points.check(start + 16 * size >= len(data) > start + 16 * (size - 1), "bzImage: syssize covers the file", size, len(data))
    points.check(memory >= len(data) - start, "bzImage: init_size holds the file", memory)


def record(image, number):
    return image[number * SECTOR:(number + 1) * SECTOR]


def check_disk(points, image):
    """ECMA-119 and El Torito, as a BIOS and UEFI read them."""
    points.check(image[510:512] == b"\x55\xaa" and image[512:520] == b"EFI PART", "disk: a boot sector and a GPT")
    volume, boot = record(image, 16), record(image, 17)
    size, size_big = struct.unpack_from("<I", volume, 80) + struct.unpack_from(">I", volume, 84)
    points.check(volume[:6] == b"\1CD001" and size == size_big == len(image) // SECTOR, "disk: the ISO 9660 volume has its size", size)
    points.check(boot[:6] == b"\0CD001" and boot[7:30] == b"EL TORITO SPECIFICATION" and record(image, 18)[:6] == b"\xffCD001",
                 "disk: El Torito's record, then the end of the descriptors")
    catalog = record(image, struct.unpack_from("<I", boot, 71)[0])
    points.check(sum(struct.unpack_from("<16H", catalog)) & 0xFFFF == 0 and catalog[30:32] == b"\x55\xaa",
                 "disk: the boot catalog has the right sum")
    bios, uefi = struct.unpack_from("<I", catalog, 32 + 8)[0], struct.unpack_from("<I", catalog, 96 + 8)[0]
    points.check(b"choose this medium's UEFI entry" in record(image, bios), "disk: BIOS's entry of the CD prints what to do")
    points.check(catalog[64:66] == b"\x91\xef" and uefi * SECTOR == PARTITION and image[PARTITION + 510:PARTITION + 512] == b"\x55\xaa",
                 "disk: UEFI's entry of the CD is the partition", uefi)
    root, = struct.unpack_from("<I", volume, 156 + 2)
    at, names = 0, []
    while (length := record(image, root)[at]) != 0:
        entry = record(image, root)[at:at + length]
        names.append(entry[33:33 + entry[32]])
        at += length
    points.check(names == [b"\0", b"\1", b"README.TXT;1"], "disk: the CD's root has one file", names)


def main():
    points = Points()
    x86, arm64 = (ROOT / "build" / name for name in ("x86_64/BOOTX64.EFI", "arm64/BOOTAA64.EFI"))
    check_setup(points, x86.read_bytes(), check_pe(points, "x86_64", x86.read_bytes(), 0x8664))
    check_pe(points, "arm64", arm64.read_bytes(), 0xAA64)
    with tempfile.TemporaryDirectory() as folder:
        image = pathlib.Path(folder) / "disk.img"
        subprocess.run([ROOT / "scripts/mkdisk", "--efi", x86, "--efi", arm64, image], check=True)
        check_disk(points, image.read_bytes())
        text = pathlib.Path(folder) / "text"
        text.write_text("not an application\n")
        refused = subprocess.run([ROOT / "scripts/build/mkefi", "--kernel", text, "-o", pathlib.Path(folder) / "out", text],
                                 capture_output=True, text=True, check=False)
        points.check(refused.returncode == 1 and refused.stderr.count("\n") == 1 and refused.stderr.startswith("mkefi: "),
                     "mkefi refuses a file that is not ELF with one line", *refused.stderr.splitlines()[-3:])
    return points.end()


if __name__ == "__main__":
    sys.exit(main())
