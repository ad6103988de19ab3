"""Writes and reads cpio archives in the "newc" format, which the kernel unpacks.

Writing is reproducible: names sorted, owner, times and inode numbers fixed.
If a file is a multiple of the page size, its data begins at a page boundary,
so that programs can map it.  Other data begins at a multiple of 8 bytes: so
the cost of reading a file does not depend on the files before it.
Extra NULs after a file's name make the room.
cpio(5), "New ASCII Format".
"""

MAGIC = b"070701"
HEADER_BYTES = 110
TRAILER = "TRAILER!!!"
PAGE_BYTES = 4096
WORD_BYTES = 8


class ArchiveError(Exception):
    """The bytes are not an archive; the message says where."""


def _pad(length):
    return b"\0" * (-length % 4)


def _member(name, data, mode, ino, at=0):
    encoded = name.encode() + b"\0"
    if data:
        begin = WORD_BYTES if len(data) % PAGE_BYTES else PAGE_BYTES
        encoded += b"\0" * (-(at + HEADER_BYTES + len(encoded)) % begin)
    fields = (ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    header = MAGIC + b"".join(b"%08X" % field for field in fields) + encoded
    return header + _pad(len(header)) + data + _pad(len(data))


def pack(files):
    """The archive of a dict from name to bytes; ELF programs and scripts are executable."""
    out = bytearray()
    for ino, name in enumerate(sorted(files), 1):
        executable = files[name].startswith((b"\x7fELF", b"#!"))
        out += _member(name, files[name], 0o100755 if executable else 0o100644, ino, len(out))
    return bytes(out + _member(TRAILER, b"", 0, 0))


def unpack(data):
    """The regular files of an archive, as a dict from name to bytes."""
    files, at = {}, 0
    while True:
        header = data[at:at + HEADER_BYTES]
        if len(header) < HEADER_BYTES:
            raise ArchiveError(f"truncated at byte {at}")
        if header[:6] not in (MAGIC, b"070702"):
            raise ArchiveError(f"no newc header at byte {at}")
        try:
            fields = [int(header[i:i + 8], 16) for i in range(6, HEADER_BYTES, 8)]
        except ValueError:
            raise ArchiveError(f"garbage in the header at byte {at}") from None
        mode, size, name_bytes = fields[1], fields[6], fields[11]
        name = data[at + HEADER_BYTES:at + HEADER_BYTES + name_bytes].rstrip(b"\0").decode(errors="replace")
        at += HEADER_BYTES + name_bytes
        at += -at % 4
        if name == TRAILER:
            return files
        if at + size > len(data):
            raise ArchiveError(f"truncated inside {name}")
        if mode & 0o170000 == 0o100000:
            files[name.removeprefix("./")] = data[at:at + size]
        at += size + -size % 4
