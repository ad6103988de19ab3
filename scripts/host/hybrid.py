#!/usr/bin/env python3
"""Make a disk image a CD and a disk of 4,096-byte blocks as well: hybrid.py IMAGE.  scripts/mkdisk runs it.

The partition of the image starts at 1 MiB.  The space before it gets a small ISO 9660 volume with an El Torito boot
catalog.  That names the partition as the CD's UEFI system partition.  BIOS gets a few instructions that print what to
do: as the boot sector of the disk, and as the catalog's entry for BIOS.

A disk of 4,096-byte blocks has the header of its GUID partition table at byte 4,096.  Both tables have the same partition.

ECMA-119, "Volume and File Structure of CDROM for Information Interchange"; "El Torito" Bootable CD-ROM Format
Specification; UEFI, "ISO-9660 and El Torito", "GUID Partition Table (GPT) Disk Layout".
"""

import pathlib
import struct
import sys
import zlib

SECTOR = 2048
PARTITION = (1 << 20) // SECTOR
VOLUME, RECORD, END, PATHS, PATHS_BIG, ROOT, CATALOG, CODE, TEXT = range(16, 25)
BOOT_CODE_BYTES = 440  # of a master boot record; then a signature of the disk and the partitions
MESSAGE = b"barecpc: started by BIOS: choose this medium's UEFI entry in the boot menu\r\n"
README = b"barecpc boots from this medium by UEFI, on x86-64 and arm64.  The files are in its first partition.\n"
DATE = b"2024010100000000\0"
SHORT_DATE = bytes((124, 1, 1, 0, 0, 0, 0))

# INT 10H, AH 14 prints the character in AL.
PRINT = bytes.fromhex(
    "31c0 8ed8 fc"  # xor ax, ax; mov ds, ax; cld
    "be197c"  # mov si, text: it follows this code, which BIOS puts at 7c00
    "ac 84c0 7409"  # 1: lodsb; test al, al; jz 2f
    "b40e bb0700 cd10 ebf2"  # mov ah, 14; mov bx, 7; int 0x10; jmp 1b
    "f4 ebfd")  # 2: hlt; jmp 2b


def both(value, code="I"):
    """A number in both byte orders."""
    return struct.pack("<" + code, value) + struct.pack(">" + code, value)


def directory_record(name, sector, size, flags=0):
    record = b"\0" + both(sector) + both(size) + SHORT_DATE + bytes((flags, 0, 0)) + both(1, "H") + bytes((len(name),)) + name
    record += b"\0" * (len(record) % 2 == 0)
    return bytes((len(record) + 1,)) + record


def volume(sectors):
    """The primary volume descriptor."""
    root = directory_record(b"\0", ROOT, SECTOR, 2)
    text = b"\1CD001\1\0" + b" " * 32 + b"BARECPC".ljust(32) + bytes(8) + both(sectors) + bytes(32)
    text += both(1, "H") + both(1, "H") + both(SECTOR, "H") + both(10)
    text += struct.pack("<II", PATHS, 0) + struct.pack(">II", PATHS_BIG, 0) + root
    text += b" " * (128 * 4 + 37 * 3) + DATE + DATE + b"0" * 16 + b"\0" + DATE + b"\1\0"
    return text


def catalog():
    """The boot catalog: BIOS's entry, then UEFI's.  A count below 2 means up to the end of the CD."""
    validation = struct.pack("<BBH24sHBB", 1, 0, 0, b"barecpc", 0, 0x55, 0xAA)
    total = -sum(struct.unpack("<16H", validation)) & 0xFFFF
    validation = validation[:28] + struct.pack("<H", total) + validation[30:]
    bios = struct.pack("<BBHBBHI20x", 0x88, 0, 0, 0, 0, SECTOR // 512, CODE)
    header = struct.pack("<BBH28s", 0x91, 0xEF, 1, b"")
    return validation + bios + header + struct.pack("<BBHBBHI20x", 0x88, 0, 0, 0, 0, 0, PARTITION)


def sectors(total):
    """Every sector of the ISO 9660 volume, by number."""
    root = directory_record(b"\0", ROOT, SECTOR, 2) + directory_record(b"\1", ROOT, SECTOR, 2)
    root += directory_record(b"README.TXT;1", TEXT, len(README))
    return {
        VOLUME: volume(total),
        RECORD: b"\0CD001\1" + b"EL TORITO SPECIFICATION".ljust(64, b"\0") + struct.pack("<I", CATALOG),
        END: b"\xffCD001\1",
        PATHS: struct.pack("<BBIHBB", 1, 0, ROOT, 1, 0, 0),
        PATHS_BIG: struct.pack(">BBIHBB", 1, 0, ROOT, 1, 0, 0),
        ROOT: root,
        CATALOG: catalog(),
        CODE: PRINT + MESSAGE + b"\0",
        TEXT: README,
    }


# Signature, revision, bytes, CRC, reserved, this header, the other one, first and last usable block, disk's GUID.
# Then the entries' block, number, bytes of one, CRC.
GPT = struct.Struct("<8sIIIIQQQQ16sQIII")
ENTRY = struct.Struct("<32sQQ")
BLOCK, HEADER, TABLE, OTHER_TABLE, OTHER_HEADER = 4096, 1, 2, 32, 36


def blocks_of_4096(image, size):
    """The table for blocks of 4,096 bytes, made from that for 512: block and content of each part.  The second is near the first."""
    image.seek(512)
    old = GPT.unpack(image.read(GPT.size))
    image.seek(old[10] * 512)
    entries = bytearray(image.read(old[11] * old[12]))
    name, first, last = ENTRY.unpack_from(entries)
    ENTRY.pack_into(entries, 0, name, first // 8, (last + 1) // 8 - 1)
    for here, there, table in ((HEADER, OTHER_HEADER, TABLE), (OTHER_HEADER, HEADER, OTHER_TABLE)):
        fields = [*old[:3], 0, 0, here, there, first // 8, size // BLOCK - 1 - 5, old[9], table, *old[11:13], zlib.crc32(entries)]
        fields[3] = zlib.crc32(GPT.pack(*fields))
        yield here, GPT.pack(*fields)
        yield table, entries


def main():
    path = pathlib.Path(sys.argv[1])
    code = PRINT + MESSAGE + b"\0"
    assert PRINT[6] == len(PRINT) and len(code) <= BOOT_CODE_BYTES
    with open(path, "r+b") as image:
        image.write(code)
        for number, text in sectors(path.stat().st_size // SECTOR).items():
            image.seek(number * SECTOR)
            image.write(text.ljust(SECTOR, b"\0"))
        for number, content in list(blocks_of_4096(image, path.stat().st_size)):
            image.seek(number * BLOCK)
            image.write(content)


if __name__ == "__main__":
    main()
