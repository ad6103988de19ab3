"""The arrays of a vendor's table of event names (events/table.h), as they grow, and as C.

A draft is an event as libpfm4.c prints it: a dict.  Its unit masks' `extra` is the value of an extra MSR.
"""

import collections
import sys

# As in events/table.h and events/events.h.
NAME_ALIGN, MAX_NAME, WORD, LONG_LIST, SAME_PICS, ROW_BITS, ROW_PLACES = 4, 64, 8, 128, 40, 12, 2048
MAX_UMASKS, MAX_GROUPS, LIST_ENOUGH, ER_EVENTS = 32, 8, 0x8000, 4
UM_DEFAULT, UM_OPTIONAL, UM_EVENT = 2, 0x20, 0x40
DEFAULTS_COUNT, DEFAULTS_OPTIONAL = 0x3F, 0x40
AMD = 1
MODS = "k u e i c t ldlat intx intxcp h g hv cmpl thr".split()
SIZES = {"name": 24, "desc": 64, "source": 96}
MAX_MODELS = 10

COLUMNS, PRESET_COLUMNS, WIDTH = 24, 8, 100

Pool = collections.namedtuple("Pool", "type most unit items")


def hashed(name):
    """event_hash() of a name in capitals."""
    key, value = name.upper().encode(), 0
    for at in range(0, len(key), WORD):
        value = (value ^ int.from_bytes(key[at:at + WORD], "little")) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
        value ^= value >> 32
    return value & 0xFFFFFFFF


def place_of(draft, name, models):
    """The place of a unit mask that all these models have, or None."""
    for place, umask in enumerate(draft["umasks"]):
        if umask["name"] == name and umask["models"] & models:
            if models & ~umask["models"]:
                sys.exit(f"{draft['name']}:{name}: not alike on all that have it")
            return place
    return None


def alias_parts(draft, text, models):
    """The places of unit masks and the modifiers, with values, that an alias has after the event's name."""
    places, mods = set(), []
    for part in text.split(":"):
        place = place_of(draft, part, models)
        if place is None:
            mod, _, value = part.partition("=")
            if mod not in MODS:
                sys.exit(f"{part}: an alias of an unknown unit mask or modifier")
            mods += MODS.index(mod), int(value or "1", 0)
        elif draft["umasks"][place]["equiv"]:
            more, more_mods = alias_parts(draft, draft["umasks"][place]["equiv"], models)
            places, mods = places | more, mods + more_mods
        else:
            places.add(place)
    return places, mods


def alias_bytes(places, mods):
    """The bytes of an alias, without those of its event; a number that does not fit is an error."""
    if len(places) > MAX_UMASKS:
        sys.exit("an alias has too many unit masks")
    return bytes([len(places), *sorted(places), len(mods) // 2, *mods])


def hexadecimal(number):
    """A number as printf's %#x."""
    return hex(number) if number else "0"


class Tables:
    """The arrays.  Number 0 means no name, no alias, no PICs."""

    def __init__(self):
        self.pools = {
            "pmus": Pool("struct event_pmu", 64, None, []),
            "rows": Pool("struct event_row", 0xFFFF, None, []),
            "umasks": Pool("struct event_umask", 0x7FFF, None, []),
            "pics": Pool("event_pics_t", 0xFFFF, None, [0]),
            "names": Pool("char", NAME_ALIGN * 0xFFFF, 1, bytearray(NAME_ALIGN)),
            "lists": Pool("uint16_t", 0xFFFF, 2, bytearray()),
            "tags": Pool("uint8_t", 0x10000 + WORD, 1, bytearray()),
            "places": Pool("uint16_t", 0xFFFF, 2, bytearray()),
            "presets": Pool("struct event_preset", 0xFFFF, 4, bytearray()),
            "aliases": Pool("uint8_t", 0xFFFF, 1, bytearray(1)),
            "defaults": Pool("uint8_t", 0xFFFF, 1, bytearray()),
        }
        self.numbers = {"": 0}  # of each name
        self.found = collections.defaultdict(dict)  # of each element of pics and umasks

    def add(self, name, items):
        """Append elements.  Returns the number of the first."""
        pool = self.pools[name]
        first = len(pool.items) // (pool.unit or 1)
        pool.items.extend(items)
        if len(pool.items) // (pool.unit or 1) > pool.most:
            sys.exit(f"{name}: more than {pool.most}")
        return first

    def find(self, name, data):
        """The number of the first of elements such as these bytes, which it appends if need be."""
        pool = self.pools[name]
        at = pool.items.find(data)
        while at > 0 and at % pool.unit:
            at = pool.items.find(data, at + 1)
        return at // pool.unit if at >= 0 else self.add(name, data)

    def number(self, name, item):
        """The number of an element of pics or umasks, which it appends if need be."""
        found, items = self.found[name], self.pools[name].items
        if not found:
            found.update({known: number for number, known in enumerate(items)})
        if item not in found:
            found[item] = self.add(name, [item])
        return found[item]

    def name(self, name):
        """The number of a name, which takes whole units."""
        if len(name) > MAX_NAME:
            sys.exit(f"{name}: the name is too long")
        if name not in self.numbers:
            text = name.encode() + bytes(NAME_ALIGN - len(name) % NAME_ALIGN)
            self.numbers[name] = self.add("names", text) // NAME_ALIGN
        return self.numbers[name]

    def list_of(self, draft):
        """The place of a draft's list of unit masks, and of the list's index."""
        words, umasks = [], draft["umasks"]
        for umask in umasks:
            name, pics, extra = self.name(umask["name"]), self.number("pics", umask["pics"]), self.number("pics", umask.get("extra", 0))
            alias = 0
            if umask["equiv"]:
                parts = alias_parts(draft, umask["equiv"], umask["models"] & draft["models"])
                alias = self.find("aliases", alias_bytes(*parts))
            if umask["flags"] & UM_EVENT:
                draft["flags"] |= ER_EVENTS
            if len(umasks) > SAME_PICS and umask["pics"] != umasks[0]["pics"]:
                sys.exit(f"{draft['name']}: PICs differ")
            code = umask["code"]
            words.append(LIST_ENOUGH * umask["enough"] | self.number("umasks", (
                name, alias, umask["flags"], umask["fixed"], umask["group"], code & 0xFFFFFFFF, code >> 32, umask["models"], pics, extra)))
        place = self.find("lists", b"".join(word.to_bytes(2, "little") for word in words))
        if len(words) <= LONG_LIST:
            return place, 0
        places = [0] * (1 << (len(words) * 3 // 2).bit_length())
        for number, umask in enumerate(umasks, 1):
            at = hashed(umask["name"]) % len(places)
            while places[at]:
                at = (at + 1) % len(places)
            places[at] = number
        return place, self.find("places", b"".join(number.to_bytes(2, "little") for number in places))

    def defaults_of(self, kind, draft, model):
        """The default unit masks of each group.  A group is optional if all its masks are so on AMD, or one of them on Intel."""
        data = bytearray()
        for group in range(draft["ngroup"]):
            masks = [(place, umask["flags"]) for place, umask in enumerate(draft["umasks"])
                     if umask["models"] & model and umask["group"] & 0xF == group]
            optional = [flags & UM_OPTIONAL != 0 for _, flags in masks]
            places = [place for place, flags in masks if flags & (UM_OPTIONAL | UM_DEFAULT) == UM_DEFAULT]
            if len(places) > DEFAULTS_COUNT:
                sys.exit(f"{draft['name']}: too many defaults")
            data.append(len(places) | DEFAULTS_OPTIONAL * (all(optional) if kind == AMD else any(optional)))
            data += bytes(places)
        return self.find("defaults", data)

    def split(self, kind, draft):
        """A draft for each group of models that have the same default unit masks."""
        groups = {}
        for model in (1 << bit for bit in range(8) if draft["models"] >> bit & 1):
            defaults = self.defaults_of(kind, draft, model)
            groups[defaults] = groups.get(defaults, 0) | model
        for defaults, models in groups.items():
            yield draft | {"models": models, "defaults": defaults}

    def alias_of(self, drafts, draft):
        """The alias of an event, which is another one on all its models."""
        if not draft["equiv"]:
            return 0
        name, _, parts = draft["equiv"].partition(":")
        for row, other in enumerate(drafts):
            if other["name"] == name and not draft["models"] & ~other["models"]:
                rest = alias_parts(other, parts, draft["models"]) if parts else ((), ())
                return self.find("aliases", row.to_bytes(2, "little") + alias_bytes(*rest))
        return sys.exit(f"{draft['name']}: an alias of {draft['equiv']}, which is unknown")

    def add_drafts(self, kind, drafts):
        """Add the rows of a table, sorted by name.  Returns the fields of struct event_pmu about them."""
        every = []
        for draft in drafts:
            if draft["ngroup"] > MAX_GROUPS:
                sys.exit(f"{draft['name']}: too many groups")
            draft |= {"number": self.name(draft["name"]), "pic_set": self.number("pics", draft["pics"])}
            draft["list"], draft["index"] = self.list_of(draft)
            every += self.split(kind, draft)
        every.sort(key=lambda draft: (draft["name"], draft["models"]))
        for last, draft in zip(every, every[1:]):
            if last["name"] == draft["name"] and last["models"] & draft["models"]:
                sys.exit(f"{draft['name']}: twice")
        rows = [(d["number"], self.alias_of(every, d), d["mods"], d["list"], d["code"], len(d["umasks"]), d["pic_set"], d["defaults"],
                 d["index"], d["flags"], d["ngroup"], d["models"]) for d in every]
        return (self.add("rows", rows), len(rows), *self.add_index([draft["name"] for draft in every]))

    def add_index(self, names):
        """Add an index, with at most two places in three in use, and by the bits of the hash that do best."""
        size = len(names) * 3 // 2
        if size >= ROW_PLACES or len(names) >= 1 << ROW_BITS:
            sys.exit(f"{len(names)} rows are more than places have numbers")
        # Only the first row of a name is in the index.
        hashes = {row: hashed(name) for row, name in enumerate(names, 1) if row == 1 or name != names[row - 2]}
        bits = max(1, (size - 1).bit_length())

        def place(shift):
            places, far, total = [0] * (1 << bits), 0, 0
            for row, value in hashes.items():
                at, off = value >> shift, 0
                while places[(at + off) % len(places)]:
                    off += 1
                places[(at + off) % len(places)] = value >> 28 << ROW_BITS | row
                far, total = max(far, off), total + off
            return far, total, shift, places

        *_, shift, places = min((place(shift) for shift in range(33 - bits)), key=lambda placed: placed[:3])
        return self.add("places", b"".join(p.to_bytes(2, "little") for p in places)), bits, shift

    def add_tags(self):
        """Add a byte of the hash for each entry of the lists.  The tags and the names are read by words, past their end."""
        text = {number: name for name, number in self.numbers.items()}
        for word in memoryview(self.pools["lists"].items).cast("H"):
            name = self.pools["umasks"].items[word & ~LIST_ENOUGH][0]
            self.add("tags", [hashed(text[name]) >> 24])
        self.add("tags", bytes(WORD))
        self.add("names", bytes(WORD))

    def add_pmu(self, pmu, source, kind, model, rows):
        """Add a PMU whose rows add_drafts() added, without presets."""
        for field, text in {"name": pmu["name"], "desc": pmu["desc"], "source": source}.items():
            if len(text) >= SIZES[field]:
                sys.exit(f"{text}: longer than {SIZES[field] - 1}")
        if len(pmu["models"]) > MAX_MODELS:
            sys.exit(f"{pmu['name']}: more models than {MAX_MODELS}")
        self.add("pmus", [{**pmu, "source": source, "kind": kind, "model": model, "rows": rows, "preset": 0, "npreset": 0}])

    def text(self, name):
        """An array as C, without its head."""
        pool = self.pools[name]
        if name == "pmus":
            for p in pool.items:
                models = p["models"] + [0] * (MAX_MODELS - len(p["models"]))
                yield (f'\t{{ "{p["name"]}", "{p["desc"]}", "{p["source"]}", {", ".join(map(str, p["rows"]))}, {hexadecimal(p["model"])}, '
                       f'{p["kind"]}, {hexadecimal(p["flags"])}, {p["preset"]}, {p["npreset"]}, {p["npic"]}, {p["nfixed"]}, {p["family"]}, '
                       f'{{ {", ".join(map(str, models))} }} }},\n')
        elif name in ("rows", "umasks"):
            for row in pool.items:
                in_hex = (2, 4, 9, 11) if name == "rows" else (2, 3, 5, 6, 7)
                numbers = (hexadecimal(n) if i in in_hex else str(n) for i, n in enumerate(row))
                yield f"\t{{ {', '.join(numbers)} }},\n"
        elif name == "pics":
            yield from (f"\t{hexadecimal(pics)},\n" for pics in pool.items)
        elif name == "names":
            line = ""
            words = pool.items[:-1].decode().split("\0")
            for word, after in zip(words, [*words[1:], None]):
                line += word.replace("\\", "\\\\").replace('"', '\\"') + "\\0"
                # A digit after \0 would be part of the escape.
                if len(line) + 2 > WIDTH or after is None or after[:1].isdigit():
                    yield f'\t"{line}"\n'
                    line = ""
            yield '\t"";\n'
        else:
            columns = COLUMNS
            numbers = list(memoryview(pool.items).cast("H" if pool.unit == 2 else "B"))
            if name == "presets":
                columns = PRESET_COLUMNS
                numbers = [f"{{ {p}, {why}, {low | high << 8} }}" for p, why, low, high in zip(*[iter(numbers)] * 4)]
            for at in range(0, len(numbers), columns):
                yield f"\t{' '.join(f'{number},' for number in numbers[at:at + columns])}\n"

    def write(self, path, vendor, first_line):
        """Write all arrays."""
        with open(path, "w") as file:
            file.write(f'/* clang-format off */\n/* {first_line} */\n#include "events/table.h"\n')
            for name, pool in self.pools.items():
                file.write(f"\nstatic const {pool.type} {name}[] =")
                file.write("\n" if name == "names" else " {\n")
                file.writelines(self.text(name))
                file.write("" if name == "names" else "};\n")
            file.write(f"\nextern const struct event_db events_{vendor};\nconst struct event_db events_{vendor} = {{\n\t{{ ")
            file.write(", ".join(self.pools) + " },\n\t{ " + ", ".join(f"sizeof {name}" for name in self.pools) + " },\n};\n")
