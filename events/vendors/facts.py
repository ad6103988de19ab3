"""The form of a vendor's facts about events, which events/generated/*.facts have.

A file has lines of words, and lines of comment that begin with `#`.  Numbers are hexadecimal.

    source NAME REVISION DATE LICENCE ADDRESS      what the facts were taken from
    cpu NAME FILE VERSION PICS FIXED IDS DESCRIPTION...
    EVENT SELECT PICS EXTRA FLAGS CPU,CPU...

A line `cpu` has the PMU's name, the vendor's file and its version, and the number of general and of fixed PICs.  IDS are
its processors, or `-`: `6-7d,6-7e` (Intel: CPUID's family and model), `6-97/40` (of core type 40H), `41-d0c` (Arm:
MIDR_EL1's implementer and part).  If the facts have several sources, FILE is `SOURCE:FILE`, or several of these after commas.

A line of an event has facts that are the same on all its CPUs:

    SELECT  the bits of the event select, or of PMEVTYPER<n>_EL0; alternatives after commas: 1b7,1bb
    PICS    bit n: general PIC n, with all threads but one of a core off; bit 32 + n: fixed PIC n; *: all general PICs
    EXTRA   the extra MSR and its value, 3f6=20, or -; an MSR for each alternative of SELECT: 1a6,1a7=10003c0001
    FLAGS   a: taken alone, d: deprecated, or -
"""

import collections
import io
import pathlib
import subprocess
import tarfile

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "generated"
FIRST_FIXED = 32

Source = collections.namedtuple("Source", "name revision date licence address")
Cpu = collections.namedtuple("Cpu", "name file version npic nfixed ids description")
# selects and msrs are tuples; pics: None for all general PICs; flags is a text.
Fact = collections.namedtuple("Fact", "name selects pics msrs value flags")


class Checkout:
    """The files of the newest commit of a repository, a clone or a bare one."""

    def __init__(self, folder, licence, address, paths=()):
        git = ["git", "--git-dir", folder if (pathlib.Path(folder) / "HEAD").exists() else f"{folder}/.git"]
        archive = subprocess.run([*git, "archive", "HEAD", *paths], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            self.bytes = {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}
        show = [*git, "log", "-1", "--format=%h %cs", "--abbrev=12"]
        revision, date = subprocess.run(show, capture_output=True, text=True, check=True).stdout.split()
        self.source = Source(address.rpartition("/")[2], revision, date, licence, address)

    def text(self, path):
        """The content of a file."""
        return self.bytes[path].decode("utf-8-sig")


def write(vendor, sources, cpus, facts):
    """Write a vendor's file.  facts has the facts of each CPU's name: a list of Fact."""
    order = {cpu.name: n for n, cpu in enumerate(cpus)}
    shared = collections.defaultdict(list)
    for name in sorted(facts, key=order.get):
        for fact in facts[name]:
            shared[fact].append(name)
    with (FOLDER / f"{vendor}.facts").open("w") as file:
        print("# Facts about events: events/vendors/facts.py has the form, and a script next to it made this file: do not edit.", file=file)
        for source in sources:
            print("source", *source, file=file)
        for cpu in cpus:
            print("cpu", cpu.name, cpu.file, cpu.version, f"{cpu.npic:x} {cpu.nfixed:x}", cpu.ids, cpu.description, file=file)
        for fact, names in sorted(shared.items(), key=lambda item: (item[0].name, order[item[1][0]], item[0].selects)):
            select = ",".join(f"{s:x}" for s in fact.selects)
            pics = "*" if fact.pics is None else f"{fact.pics:x}"
            extra = ",".join(f"{m:x}" for m in fact.msrs) + f"={fact.value:x}" if fact.msrs else "-"
            print(fact.name, select, pics, extra, fact.flags or "-", ",".join(names), file=file)


def read(vendor):
    """Read a vendor's file: its sources, its CPUs, and a dict from a CPU's name to its facts."""
    sources, cpus, facts = [], [], {}
    for line in (FOLDER / f"{vendor}.facts").read_text().splitlines():
        words = line.split()
        if words[0] == "source":
            sources.append(Source(*words[1:]))
        elif words[0] == "cpu":
            cpus.append(Cpu(*words[1:4], int(words[4], 16), int(words[5], 16), words[6], " ".join(words[7:])))
            facts[words[1]] = []
        elif words[0] != "#":
            name, selects, pics, extra, flags, names = words
            msrs, _, value = extra.partition("=")
            fact = Fact(
                name,
                tuple(int(s, 16) for s in selects.split(",")),
                None if pics == "*" else int(pics, 16),
                tuple(int(m, 16) for m in msrs.split(",")) if value else (),
                int(value or "0", 16),
                flags.strip("-"),
            )
            for cpu in names.split(","):
                facts[cpu].append(fact)
    return sources, cpus, facts
