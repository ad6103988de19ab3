"""Writes and reads cpio archives in the "newc" format, which the kernel unpacks.

Writing is reproducible: names sorted, owner, times and inode numbers fixed.
If a file is a multiple of the page size, its data begins at a page boundary,
so that programs can map it.  Other data begins at a multiple of 8 bytes: so
the cost of reading a file does not depend on the files before it.
Extra NULs after a file's name make the room.

Files of a page or more with the same content are hard links.  Only the last
of them has the data, as cpio(1) writes them.
cpio(5), "New ASCII Format".
"""

import os
import re

MAGIC = b"070701"
HEADER_BYTES = 110
TRAILER = "TRAILER!!!"
MAX_FILE_BYTES = 0xffffffff  # eight hexadecimal digits
PAGE_BYTES = 4096
WORD_BYTES = 8


class ArchiveError(Exception):
    """The bytes are not an archive; the message says where."""


class Link(bytes):
    """The target of a symbolic link, as the content of its name."""


def _pad(length):
    return b"\0" * (-length % 4)


def _member(name, data, mode, ino, at=0, nlink=1):
    encoded = os.fsencode(name) + b"\0"
    if data:
        begin = WORD_BYTES if len(data) % PAGE_BYTES else PAGE_BYTES
        encoded += b"\0" * (-(at + HEADER_BYTES + len(encoded)) % begin)
    fields = (ino, mode, 0, 0, nlink, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    header = MAGIC + b"".join(b"%08X" % field for field in fields) + encoded
    return header + _pad(len(header)) + data + _pad(len(data))


def _links(files):
    """The names of each file's hard links, by name."""
    same = {}
    for name, data in sorted(files.items()):
        same.setdefault(data if len(data) >= PAGE_BYTES else name, []).append(name)
    return {name: names for names in same.values() for name in names}


def pack(files):
    """The archive of a dict from name to bytes; ELF programs and scripts are executable."""
    for name, data in files.items():
        if len(data) > MAX_FILE_BYTES:
            raise ArchiveError(f"{name}: {len(data)} bytes: an archive holds files below 4 GiB")
    out, links, inodes = bytearray(), _links(files), {}
    for name, data in sorted(files.items()):
        names = links[name]
        ino = inodes.setdefault(names[-1], len(inodes) + 1)
        executable = data.startswith((b"\x7fELF", b"#!"))
        content = data if name == names[-1] else b""
        mode = 0o120777 if isinstance(data, Link) else 0o100755 if executable else 0o100644
        out += _member(name, content, mode, ino, len(out), len(names))
    return bytes(out + _member(TRAILER, b"", 0, 0))


def unpack(data):
    """The regular files and links of an archive, as a dict from name to bytes."""
    files, contents, links, at = {}, {}, {}, 0
    while True:
        header = data[at:at + HEADER_BYTES]
        if len(header) < HEADER_BYTES:
            raise ArchiveError(f"truncated at byte {at}")
        if header[:6] not in (MAGIC, b"070702"):
            raise ArchiveError(f"no newc header at byte {at}")
        if not re.fullmatch(rb"[0-9a-fA-F]+", header[6:]):
            raise ArchiveError(f"garbage in the header at byte {at}")
        fields = [int(header[i:i + 8], 16) for i in range(6, HEADER_BYTES, 8)]
        ino, mode, nlink, size, device, name_bytes = fields[0], fields[1], fields[4], fields[6], fields[7:9], fields[11]
        name = data[at + HEADER_BYTES:at + HEADER_BYTES + name_bytes].rstrip(b"\0").decode(errors="replace")
        at += HEADER_BYTES + name_bytes
        at += -at % 4
        if name == TRAILER:
            return {**files, **{link: contents.get(inode, b"") for link, inode in links.items()}}
        if at + size > len(data):
            raise ArchiveError(f"truncated inside {name}")
        if mode & 0o170000 == 0o120000:
            files[name.removeprefix("./")] = Link(data[at:at + size])
        elif mode & 0o170000 == 0o100000:
            name = name.removeprefix("./")
            files[name] = data[at:at + size]
            inode = (ino, *device)
            if size:
                contents[inode] = files[name]
            elif nlink > 1:
                links[name] = inode
        at += size + -size % 4
