"""Makes QEMU's command line for a run, and the files that QEMU reads."""

import collections
import contextlib
import functools
import os
import pathlib
import re
import shutil
import subprocess

from host import cpio, files

ROOT = pathlib.Path(__file__).resolve().parents[3]
HOST_ARCH = {"x86_64": "x86_64", "aarch64": "arm64"}.get(os.uname().machine, "")

# The distribution's emulator, and the one with barecpc's patches.
STOCK, PMU = "stock", "pmu"
EMULATOR = {"arm64": STOCK, "x86_64": PMU}  # the one that counts on one CPU
# --cpu max with the patched emulator: all features of TCG, and the largest PMU.  The model is Skylake's, which has no
# AVX-512, as TCG: some programs choose their code by the model.
CPU_MAX_PMU = ("max,vendor=GenuineIntel,family=6,model=94,stepping=3,"
               "pmu=on,+pdcm,+full-width-write,pmu-version=5,pmu-counters=8")
SANDBOX = ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"]
MAX_SANDBOXES = 20  # emulators of which the answer is kept
QEMU_PMU = ROOT / "scripts" / "qemu-pmu"
BUNDLE = ROOT / "qemu"  # an installation may have emulators and firmware there

MAX_APPEND_BYTES = (128 << 10) - 1  # one argument of execve(2), Linux's MAX_ARG_STRLEN


class HostError(Exception):
    """A failure of the host.  The message is one line."""


# Debian's packages, for an installed copy; scripts/setup installs them for the source tree.
PACKAGES = {"qemu-system-aarch64": "qemu-system-arm", "qemu-system-x86_64": "qemu-system-x86", "OVMF.fd": "ovmf", "QEMU_EFI.fd": "qemu-efi-aarch64",
            "qemu-img": "qemu-utils"}


def missing(tool):
    """The error that a program or file of a package is missing.  Tools of binutils begin with their target."""
    if (ROOT / "Makefile").exists():
        return HostError(f"{tool}: not found; run scripts/setup")
    name = pathlib.Path(tool).name
    package = PACKAGES.get(name) or "binutils-" + name.rpartition("-")[0].replace("_", "-")
    return HostError(f"{tool}: not found; install the package {package}")


# The machine is the default -M, the image is booted by -kernel, the firmware by -bios.
Arch = collections.namedtuple("Arch", "qemu machine image efi firmware")
ARCHS = {
    "arm64": Arch("qemu-system-aarch64", "virt,gic-version=3,dtb-randomness=off", "Image", "BOOTAA64.EFI",
                  "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd"),
    "x86_64": Arch("qemu-system-x86_64", "q35,vmport=off", "kernel.elf", "BOOTX64.EFI", "/usr/share/ovmf/OVMF.fd"),
}


# A board that QEMU models has its own CPUs and memory, and QEMU makes no device tree for it.  The tree is that one's file,
# and so many serial lines are before that of its stdout-path.
Board = collections.namedtuple("Board", "arch cpu smp mem tree before")
BOARDS = {"raspi4b": Board("arm64", "cortex-a72", "4", "2G", "broadcom/bcm2711-rpi-4-b.dtb", 1)}

# Firmware of QEMU's package for x86 machines that boot a kernel of -kernel only.
QBOOT = "/usr/share/qemu/qboot.rom"


MACHINE = {
    "accel": "tcg",
    "smp": "1",  # as QEMU's -smp
    "mem": "256M",
    "cpu": "max",
    "machine": "",
    "boot": "direct",
    "qemu": STOCK,  # or PMU, or the emulator's file
    "gdb": False,
    "icount": True,  # virtual time is instructions; without: the host's time
    "dtb": "",  # the device tree's file, in place of QEMU's own
    "planted": "",  # a machine's file or seed=N, and perhaps ,trace=FILE (qemu/planted/README.md)
}
# The machine to boot.
Machine = collections.namedtuple("Machine", ["arch", *MACHINE], defaults=MACHINE.values())


def default_emulator(arch, smp):
    """The emulator that counts.  With more than one CPU, stock QEMU's counters count what all of them retire."""
    return EMULATOR[arch] if smp.split(",")[0] == "1" else PMU


def qemu_pmu(*words):
    """The output of scripts/qemu-pmu, which may build the emulator first and then prints its progress."""
    done = subprocess.run([QEMU_PMU, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise HostError("no emulator that counts: see above; --qemu stock boots the distribution's")
    return done.stdout.strip()


def describe_planted(planted):
    """A planted machine for records: its seed or its file's sum, and the plugin with its decoder's version."""
    import hashlib  # slow to load, and most runs need no sum
    planted = planted.partition(",trace=")[0]
    name = planted if planted.startswith("seed=") else hashlib.sha256(pathlib.Path(planted).read_bytes()).hexdigest()[:16]
    return f"{name} {pathlib.Path(qemu_pmu('--planted')).stem}"


def plugin(planted):
    """QEMU's options for a machine with planted properties."""
    def path(name):
        return os.path.abspath(name).replace(",", ",,")
    machine, _, trace = planted.partition(",trace=")
    chosen = machine if machine.startswith("seed=") else f"machine={path(machine)}"
    return ["-plugin", f"{qemu_pmu('--planted')},{chosen}" + (f",trace={path(trace)}" if trace else "")]


def board_of(machine):
    """The board that an argument of --machine names, or None."""
    return BOARDS.get(machine.split(",")[0])


def device_tree(name):
    """The file of a board's device tree.  scripts/setup may fetch it first."""
    done = subprocess.run([ROOT / "scripts" / "setup", "--dtb"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    path = pathlib.Path(done.stdout.strip()) / name
    if done.returncode != 0 or not path.is_file():
        raise HostError(f"no device tree {name}: give one by --dtb FILE")
    return str(path)


def emulator(arch):
    """The patched emulator's file, by scripts/qemu-pmu.  A source tree keeps its answer, which takes 15 ms, until one of its files changes."""
    if not (ROOT / "Makefile").exists():
        return qemu_pmu("--path", arch)
    state = [os.environ.get(name, "") for name in ("BARECPC_CACHE", "XDG_CACHE_HOME", "HOME")] + files.times(QEMU_PMU) + files.times(ROOT / "qemu")
    kept = ROOT / "build" / f"emulator.{arch}"
    with contextlib.suppress(OSError, ValueError):
        *before, path = kept.read_text(errors="surrogateescape").splitlines()
        if before == state and os.access(path, os.X_OK):
            return path
    path = qemu_pmu("--path", arch)
    with contextlib.suppress(OSError):
        kept.write_text("".join(f"{line}\n" for line in [*state, path]), errors="surrogateescape")
    return path


@functools.cache
def find_qemu(arch, wanted=STOCK):
    if wanted == PMU:
        return emulator(arch)
    path = shutil.which(ARCHS[arch].qemu if wanted == STOCK else wanted)
    if path is None and wanted == STOCK and (bundled := BUNDLE / ARCHS[arch].qemu).exists():
        return str(bundled)  # of the release's tarball, which needs no package
    if path is None:
        raise missing(ARCHS[arch].qemu) if wanted == STOCK else HostError(f"{wanted}: no such program")
    return path


def build_file(arch, name):
    return ROOT / "build" / arch / name


# Words between programs on the kernel's command line.
OPERATORS = ("|", "&")


def quote(word):
    """Quote a word for the kernel's command line, if it needs that."""
    if word and word not in OPERATORS and not any(c in ' \t\n\v\f\r"\\' for c in word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def firmware_file(name):
    """The file of a package, or else that of the release's tarball."""
    bundled = BUNDLE / "firmware" / pathlib.Path(name).name
    return str(bundled) if bundled.exists() and not pathlib.Path(name).exists() else name


def boots_by_qboot(m):
    """Does this machine start by qboot?  SeaBIOS takes 0.6 s in emulation before the kernel starts, qboot 0.1 s.

    Both leave the kernel to QEMU's fw_cfg, and pass on QEMU's ACPI tables and SMBIOS.  qboot drives no disk and no card.
    On microvm QEMU puts the archive at the end of memory, whose last page Debian 13's SeaBIOS does not leave to the kernel.
    """
    machine_type = machine_option(m.arch, m.machine).split(",")[0]
    return (m.arch == "x86_64" and m.accel == "tcg" and m.boot == "direct" and machine_type in ("q35", "microvm") and
            pathlib.Path(firmware_file(QBOOT)).exists())


def quote_program(word):
    """Quote a word after `--`, unless it is an operator.  A backslash before an operator makes it an ordinary word."""
    if word in OPERATORS:
        return word
    if word.startswith("\\") and word.lstrip("\\") in OPERATORS:
        word = word[1:]
    return quote(word)


def machine_option(arch, wanted):
    """The argument of -M: the default machine with the wanted properties, or the wanted machine."""
    words = [w for w in wanted.split(",") if w]
    default_type, *defaults = ARCHS[arch].machine.split(",")
    machine_type = words.pop(0) if words and "=" not in words[0] else default_type
    properties = dict(w.split("=", 1) for w in defaults) if machine_type == default_type else {}
    for word in words:
        name, _, value = word.partition("=")
        properties[name] = value or "on"
    return ",".join([machine_type] + [f"{name}={value}" for name, value in properties.items()])


def has_x86_pmu(program):
    """Whether this QEMU has barecpc's patches."""
    done = subprocess.run([program, "-device", "qemu64-x86_64-cpu,help"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return "pmu-version" in done.stdout


def _cpu_option(m):
    """The argument of -cpu.

    At 1 GHz arm64's CNTVCT ticks once for each instruction under icount.  The patched x86 PMU is off by default.  QEMU
    10.0 without our patches ends with "Bad icount read" at a read of the x2APIC's timer under icount; older ones have no x2APIC.
    """
    if m.accel != "tcg":
        return m.cpu
    if m.arch == "arm64":
        return m.cpu if "cntfrq" in m.cpu else m.cpu + ",cntfrq=1000000000"
    if m.cpu == "max" and m.qemu == PMU:
        return CPU_MAX_PMU
    models = {} if m.cpu == "max" or "," in m.cpu else dict(line.split() for line in qemu_pmu("--cpu").splitlines())
    if m.cpu in models:
        if m.qemu != PMU and not has_x86_pmu(find_qemu(m.arch, m.qemu)):
            raise HostError(f"--cpu {m.cpu}: needs a QEMU with barecpc's patches: leave out --qemu {m.qemu}")
        return models[m.cpu]
    return m.cpu + ",-x2apic" if m.icount and m.qemu != PMU and "x2apic" not in m.cpu else m.cpu


def icount_shift(arch, boot):
    """An instruction takes 2 to the power of this many ns.  OVMF busy-waits in virtual time: half a minute at shift 0."""
    return 6 if arch == "x86_64" and boot == "uefi" else 0


def sandbox(program):
    """QEMU's options for a filter of system calls, or [] if this QEMU or this host has no seccomp.

    With the filter, a guest that breaks out of QEMU cannot start programs or gain rights.  A source tree keeps in build/
    which emulators have it, with the host, for hosts may share the tree: QEMU's answer takes as long as all else before its
    start.  Only the last file of a path is kept, and none that is gone.
    """
    program = os.path.abspath(program)
    there, host = os.stat(program), os.uname().nodename.replace(" ", "_")
    kept, this, known = ROOT / "build" / "sandboxes", f"{there.st_size} {there.st_mtime_ns} {host} {program}", []
    with contextlib.suppress(OSError):
        known = kept.read_text(errors="surrogateescape").splitlines()
    if this in known:
        return SANDBOX
    done = subprocess.run([program, *SANDBOX, "-M", "help"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return []
    if (ROOT / "Makefile").exists():
        others = [line for line in known if line.split(" ", 2)[2:] != [f"{host} {program}"] and os.path.exists(line.split(" ", 3)[-1])]
        with contextlib.suppress(OSError):
            kept.write_text("".join(f"{line}\n" for line in [this, *others[:MAX_SANDBOXES]]), errors="surrogateescape")
    return SANDBOX


def command(m, image, cmdline, initrd=None, disk=None, sandbox=()):
    """The whole command.  It turns off every source of randomness that has an option.

    The guest reaches only its console on the host: no network, no semihosting, no file that it could write.
    """
    board = board_of(m.machine)
    words = [find_qemu(m.arch, m.qemu), *sandbox, "-nodefaults", "-no-user-config", "-nic", "none", "-display", "none", "-monitor", "none",
             *["-serial", "null"] * (board.before if board else 0), "-serial", "stdio", "-no-reboot",
             "-accel", m.accel, "-M", machine_option(m.arch, m.machine), "-cpu", _cpu_option(m),
             "-smp", m.smp, "-m", m.mem, "-rtc", "base=2024-01-01,clock=vm", "-seed", "1"]
    if m.accel == "tcg" and m.icount:
        words += ["-icount", f"shift={icount_shift(m.arch, m.boot)},sleep=off"]
    if m.arch == "x86_64":
        words += ["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
    words += plugin(m.planted) if m.planted else []
    if m.dtb:
        words += ["-dtb", m.dtb]
    if m.gdb:
        words += ["-gdb", "tcp:127.0.0.1:1234"]
    if disk is None:
        bytes_ = len(os.fsencode(cmdline))
        if bytes_ > MAX_APPEND_BYTES:
            raise HostError(f"a command line of {bytes_} bytes: QEMU takes {MAX_APPEND_BYTES}: use --boot uefi")
        words += ["-kernel", str(image), "-append", cmdline]
        words += ["-bios", firmware_file(QBOOT)] if boots_by_qboot(m) else []
        return words + (["-initrd", str(initrd)] if initrd else [])
    firmware = firmware_file(ARCHS[m.arch].firmware)
    if not pathlib.Path(firmware).exists():
        raise missing(firmware)
    name = str(disk).replace(",", ",,")  # QEMU's words end at a comma
    drive = f"format=raw,file={name},if=virtio,readonly=on"
    # Without the menu option arm64's firmware waits five seconds for a key.
    return words + ["-bios", firmware, "-drive", drive, "-boot", "menu=on,splash-time=0"]


def make_disk(disk, images, cmdline, archive=None, options=("--fat",)):
    """A disk that boots: UEFI applications, their configuration, and the payloads.  By default it is a FAT volume."""
    if "\n" in cmdline or "\r" in cmdline:
        raise HostError("a word of several lines: barecpc.cfg cannot hold it: use run --boot direct")
    cfg = disk.with_name("barecpc.cfg")
    cfg.write_bytes(os.fsencode(cmdline + "\n"))
    words = [str(ROOT / "scripts" / "mkdisk"), *options, "--cfg", str(cfg)]
    for image in images:
        words += ["--efi", str(image)]
    words += ["--archive", str(archive)] if archive else []
    done = subprocess.run([*words, str(disk)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise HostError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "mkdisk failed")


def files_of(path):
    """The files of this machine that a payload of files puts into the guest, by their names there."""
    if not path.is_dir():
        return {path.name: path}
    top = path.resolve()
    return {f"{top.name}/{file.relative_to(top)}": file for file in sorted(top.rglob("*")) if file.is_file()}


def members_of(path):
    """The files of a payload, as a dictionary: of a directory all, under its name; of an archive its members; else the file.

    An archive has a magic number of cpio, or .cpio in its name.  Raises cpio.ArchiveError if it is damaged.
    """
    if path.is_dir():
        return {name: file.read_bytes() for name, file in files_of(path).items()}
    data = path.read_bytes()
    return cpio.unpack(data) if data.startswith(b"07070") or ".cpio" in path.suffixes else {path.name: data}


def suite_of(members, folder):
    """The suite of a folder, as a dictionary.  Its programs that are in the folder get the folder's name."""
    text = members.get(f"{folder}/suite")
    if text is None:
        return {}

    def place(match):
        inside = f"{folder}/{match[2].decode(errors='replace')}"
        return match[1] + (inside.encode() if inside in members else match[2])
    return {"suite": re.sub(rb"(^\s*|[|&]\s+)([^\s|&]+)", place, text, flags=re.M)}


def check_size(payloads, mem, why="the machine has {mem}: give more by --mem", option="--payload"):
    """Raise HostError if the payloads need more than this memory, or room of another kind, before anything reads them."""
    total = 0
    for path in map(pathlib.Path, payloads):
        for file in files_of(path).values():
            if not file.is_file():
                raise HostError(f"--payload {file}: {'neither a file nor a folder' if file.exists() else 'No such file or directory'}: "
                                "name a program, a file, a folder or an archive")
            size = file.stat().st_size
            total += size
            if size > cpio.MAX_FILE_BYTES:
                raise HostError(f"{option} {file}: {size} bytes: a cpio (newc) archive holds files below 4 GiB")
            if total > memory_bytes(mem):
                raise HostError(f"{option} {file}: {total >> 20} MiB in all, and {why.format(mem=mem)}")


def memory_bytes(mem):
    """The bytes of QEMU's -m: MiB without a suffix."""
    size = re.fullmatch(r"(\d+)(\D?)", mem)
    if not size:
        raise HostError(f"--mem {mem}: not a size such as 256M")
    number, suffix = size.groups()
    return int(number) << {"K": 10, "G": 30}.get(suffix.upper(), 20)


def gather(payloads, folder):
    """Make the initrd of --payload: a single archive unchanged, or a new archive of all payloads.

    Returns the initrd, the names of the programs among the payloads, and whether there is a `suite`.  A single archive
    that cannot be read is taken to have one: the kernel prints what is wrong with it.
    """
    files, programs = {}, []
    for name in payloads:
        path = pathlib.Path(name)
        try:
            members = members_of(path)
        except cpio.ArchiveError as error:
            if len(payloads) == 1:
                return path, [], True
            raise HostError(f"{name}: a damaged cpio (newc) archive: {error}") from None
        archive = not path.is_dir() and list(members) != [path.name]
        if not archive:
            programs += [member for member, data in members.items() if data.startswith(b"\x7fELF")]
        elif len(payloads) == 1:
            return path, [], "suite" in members
        if path.is_dir():
            members |= suite_of(members, path.resolve().name)
        for member, content in members.items():
            if member in files:
                raise HostError(f"{name}: {member} is there twice")
            files[member] = content
    if not files:
        return None, [], False
    initrd = folder / "payloads.cpio"
    initrd.write_bytes(cpio.pack(files))
    return initrd, programs, "suite" in files
