#!/usr/bin/env python3
"""Write the table of a vendor's events as a file that programs map (events/table.h): table_file.py TABLE.c FILE DESCRIPTIONS.

TABLE.c is what scripts/mkevents makes.  DESCRIPTIONS is a file of lines as `names describe` prints them; it may be empty.
Descriptions become sequences of words.  Words are numbered by how often they are used: each of the first 127 takes one byte,
the others take two.  events_describe() reads them.
"""

import pathlib
import re
import struct
import sys

# As in events/table.h: an element of each section, and where the fields are that are read here.
FORMATS = {
    "struct event_pmu": struct.Struct("<24s64s96s3H5BxH4B10s"), "struct event_row": struct.Struct("<4HI4H3Bx"),
    "struct event_umask": struct.Struct("<5H2xI4H"), "struct event_preset": struct.Struct("<BBH"), "event_pics_t": struct.Struct("<Q"),
    "uint16_t": struct.Struct("<H"), "uint8_t": struct.Struct("<B")}
PMU_NAME, PMU_FIRST, PMU_NROW, PMU_MODEL = 0, 3, 4, 8
ROW_NAME, ROW_LIST, ROW_NLIST, ROW_MODELS = 0, 3, 5, 11
UMASK_NAME, UMASK_MODELS, LIST_UMASK, NAME_ALIGN = 0, 7, 0x7FFF, 4
MAGIC, VERSION, ALIGN, WORD = b"BCevents", 5, 4096, 8
SECTIONS, HEADER = 16, struct.Struct("<8sIIQ")

ONE_BYTE, MAX_WORDS, MAX_BYTES = 127, 0x7FFF, 0x10000  # offsets have 16 bits


def read_table(path):
    """The arrays: for each its elements, and its bytes."""
    arrays, sections = {}, []
    for kind, name, body in re.findall(r"^static const ([\w ]+) (\w+)\[\] =(.*?);$", pathlib.Path(path).read_text(), re.M | re.S):
        if kind == "char":
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', body))
            sections.append(re.sub(r"\\(.)", lambda m: "\0" if m[1] == "0" else m[1], text).encode() + b"\0")
            arrays[name] = sections[-1]
            continue
        form = FORMATS[kind]
        width = len(form.unpack(bytes(form.size)))
        # The last field of a PMU is an array.
        items = [text.encode() if text else int(number, 0) for text, number in re.findall(r'"([^"]*)"|\b(0x[0-9a-f]+|\d+)\b', body)]
        if kind == "struct event_pmu":
            items = [x for at in range(0, len(items), width + 9) for x in (*items[at:at + width - 1], bytes(items[at + width - 1:at + width + 9]))]
        arrays[name] = list(zip(*[iter(items)] * width))
        sections.append(b"".join(form.pack(*item) for item in arrays[name]))
    return arrays, sections


def texts_of(arrays, lines):
    """The place of each row's first description, and the descriptions: of the row, then of its unit masks; None: none."""
    rows, first, texts = arrays["rows"], [], []
    for row in rows:
        first.append(len(texts))
        texts += [None] * (1 + row[ROW_NLIST])

    def name(number):
        at = NAME_ALIGN * number
        return arrays["names"][at:arrays["names"].index(b"\0", at)].decode()

    for pmu in arrays["pmus"]:
        for number in range(pmu[PMU_FIRST], pmu[PMU_FIRST] + pmu[PMU_NROW]):
            row, key = rows[number], (pmu[PMU_NAME].decode(), name(rows[number][ROW_NAME]))
            if not row[ROW_MODELS] & pmu[PMU_MODEL]:
                continue
            texts[first[number]] = lines.get((*key, ""))
            for n, (word,) in enumerate(arrays["lists"][row[ROW_LIST]:row[ROW_LIST] + row[ROW_NLIST]], first[number] + 1):
                umask = arrays["umasks"][word & LIST_UMASK]
                if umask[UMASK_MODELS] & pmu[PMU_MODEL]:
                    texts[n] = lines.get((*key, name(umask[UMASK_NAME])))
    return first, texts


def fits(number, most, what):
    """End unless the format has room."""
    if number > most:
        sys.exit(f"{what}: {number}, at most {most}")


def descriptions(arrays, path):
    """The sections that hold descriptions."""
    lines = {}
    for line in pathlib.Path(path).read_text().splitlines():
        *key, text = line.split("\t")
        lines.setdefault(tuple(key), text)
    first, texts = texts_of(arrays, lines)
    used = {}
    for text in texts:
        for word in text.split() if text else ():
            used[word] = used.get(word, 0) + 1
    words = sorted(used, key=lambda word: (-used[word], word.encode()))
    if not words:
        return []
    codes, word_text, word_at = {}, bytearray(), []
    for number, word in enumerate(words):
        codes[word] = bytes([number + 1]) if number < ONE_BYTE else bytes([0x80 | number >> 8, number & 0xFF])
        word_at.append(len(word_text))
        word_text += word.encode() + b"\0"
    descs, desc_at = bytearray(1), []  # offset 0: none
    for text in texts:
        code = b"".join(codes[word] for word in text.split()) + b"\0" if text is not None else b""
        at = descs.find(code) if code else 0
        desc_at.append(at if at >= 0 else len(descs))
        descs += code if at < 0 else b""
    fits(len(words), MAX_WORDS, "words")
    fits(len(word_text), MAX_BYTES, "bytes of words")
    fits(len(descs), MAX_BYTES, "bytes of descriptions")
    fits(len(texts), MAX_BYTES - 1, "events and unit masks")
    return [struct.pack(f"<{len(numbers)}H", *numbers) if isinstance(numbers, list) else bytes(numbers)
            for numbers in (first, desc_at, descs, word_text, word_at)]


def main(table, out, path):
    """Write the file."""
    arrays, sections = read_table(table)
    sections += descriptions(arrays, path)
    sections += [b""] * (SECTIONS - len(sections))
    places, body, head = b"", bytearray(), HEADER.size + 8 * SECTIONS
    for section in sections:
        body += bytes(-(head + len(body)) % 8)
        places += struct.pack("<II", head + len(body), len(section))
        body += section
    # Names are read by words, past their end, too.
    body += bytes(WORD + -(head + len(body) + WORD) % ALIGN)
    total = 0
    for word in memoryview(places + body).cast("Q"):
        total = (total ^ word) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    pathlib.Path(out).write_bytes(HEADER.pack(MAGIC, VERSION, head + len(body), total) + places + body)


if __name__ == "__main__":
    main(*sys.argv[1:])
