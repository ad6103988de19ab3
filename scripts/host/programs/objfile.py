"""Reads sections, symbols and relocations of an ELF64 object file, which may be damaged or hostile.

System V ABI, "Object Files"; little-endian only.
"""

import itertools
import struct

from host.terminal import printable

SHT_SYMTAB, SHT_RELA, SHT_NOBITS = 2, 4, 8
SHF_EXECINSTR = 4
STT_NOTYPE, STT_FUNC = 0, 2
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_STRTAB = 5
MAX_NAME_BYTES = 4096  # a longer name is cut
MAX_SECTION_BYTES = 256  # the same, for a section's: all are kept
MAX_SYMBOLS = 1 << 22
MAX_DYNAMIC_BYTES = 1 << 20  # what follows is left out


class BadObject(Exception):
    """The bytes are no such file; the message says why."""


def dynamic(data):
    """The loader of a program or library ("" for none), and the names after DT_NEEDED, DT_RPATH and DT_RUNPATH: gABI, "Dynamic Section"."""
    try:
        table, = struct.unpack_from("<Q", data, 32)
        size, number = struct.unpack_from("<HH", data, 54)
        # type, flags, offset, virtual address, physical address, bytes in the file
        parts = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(number)]

        def text(at):
            return data[at:data.index(b"\0", at, at + MAX_NAME_BYTES)].decode(errors="replace")

        loader = next((text(part[2]) for part in parts if part[0] == PT_INTERP), "")
        at, size = next(((part[2], part[5]) for part in parts if part[0] == PT_DYNAMIC), (0, 0))
        tags = list(itertools.takewhile(lambda tag: tag[0], struct.iter_unpack("<QQ", data[at:at + min(size, MAX_DYNAMIC_BYTES) // 16 * 16])))
        wanted = [tag for tag in tags if tag[0] in (1, 15, 29)]
        table = dict(tags)[DT_STRTAB] if wanted else 0
        strings = next(part[2] + table - part[3] for part in parts if part[0] == PT_LOAD and 0 <= table - part[3] < part[5]) if wanted else 0
        names = [[text(strings + value) for tag, value in wanted if tag == kind] for kind in (1, 15, 29)]
    except (struct.error, ValueError, KeyError, OverflowError, StopIteration, RuntimeError):
        raise BadObject("a damaged dynamic section") from None
    return loader, names[0], *(":".join(paths).split(":") if paths else [] for paths in names[1:])


class ObjectFile:
    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
            raise BadObject("not an ELF64 object file")
        self._data = data
        try:
            self._read()
        except (struct.error, IndexError, ValueError, OverflowError):
            raise BadObject("a damaged object file") from None

    def _read(self):
        table, = struct.unpack_from("<Q", self._data, 40)
        size, number, names = struct.unpack_from("<HHH", self._data, 58)
        # name, type, flags, address, offset, size, link, info, alignment, entry size
        self._headers = [struct.unpack_from("<IIQQQQIIQQ", self._data, table + i * size) for i in range(number)]
        self._names = [self._bytes(names, header[0], MAX_SECTION_BYTES).decode(errors="replace") for header in self._headers]
        self._symbols = []  # place of the name, section, value, type, binding (0: local)
        for header in self._headers:
            if header[1] == SHT_SYMTAB:
                if header[5] // 24 > MAX_SYMBOLS - len(self._symbols):
                    raise BadObject(f"more than {MAX_SYMBOLS} symbols")
                for at in range(header[4], header[4] + header[5], 24):
                    name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", self._data, at)
                    self._symbols.append(((header[6], name), section, value, info & 15, info >> 4))

    def _bytes(self, table, at, most):
        start = self._headers[table][4] + at
        end = self._data.find(b"\0", start, start + most)
        return self._data[start:end if end >= 0 else start + most]

    def _text(self, table, at):
        """A name, of which only characters that can be printed are kept: it goes to a terminal."""
        return printable(self._bytes(table, at, MAX_NAME_BYTES).decode(errors="replace"))

    def _named(self):
        """The symbols with their names, which are not kept: a hostile file's names overlap."""
        return ((self._text(*name), *rest) for name, *rest in self._symbols)

    def has_section(self, section):
        return section in self._names

    def contents(self, section):
        """The bytes of a section, or b"" if no section has this name."""
        if section not in self._names:
            return b""
        header = self._headers[self._names.index(section)]
        return b"" if header[1] == SHT_NOBITS else self._data[header[4]:header[4] + header[5]]

    def global_symbol(self, name):
        """The address of a global symbol of a linked file, or None."""
        return next((value for n, place, value, kind, bind in self._named() if n == name and place and bind), None)

    def place(self, address):
        """The function of a linked file at an address, and where it starts; or "" and 0."""
        held = [n for n, h in enumerate(self._headers) if h[3] <= address < h[3] + h[5] and h[2] & SHF_EXECINSTR]
        starts = ((value, name) for name, place, value, kind, _ in self._named()
                  if place in held and value <= address and kind in (STT_NOTYPE, STT_FUNC) and name and not name.startswith("$"))
        start, name = max(starts, key=lambda pair: pair[0], default=(0, ""))
        return name, start

    def physical(self, address):
        """The physical address that the program headers give to a virtual one, or None."""
        table, = struct.unpack_from("<Q", self._data, 32)
        size, number = struct.unpack_from("<HH", self._data, 54)
        for at in (table + i * size for i in range(number)):
            # type, flags, offset, virtual address, physical address, bytes in the file, in memory
            try:
                kind, _, _, virtual, physical, _, length = struct.unpack_from("<IIQQQQQ", self._data, at)
            except (struct.error, OverflowError):
                return None
            if kind == PT_LOAD and virtual <= address < virtual + length:
                return physical + address - virtual
        return None

    def relocated(self, section):
        """The symbol of the first relocation of a section, or None."""
        for header, name in zip(self._headers, self._names):
            if header[1] == SHT_RELA and header[5] and self._names[header[7]] == section:
                info, = struct.unpack_from("<Q", self._data, header[4] + 8)
                return self._text(*self._symbols[info >> 32][0])
        return None

    def has_data(self, section):
        """Whether an arm64 section has data between its instructions: Arm's ELF ABI, "Mapping symbols"."""
        return any(name.split(".")[0] == "$d" and 0 < place < len(self._names) and self._names[place] == section
                   for name, place, *_ in self._named())
