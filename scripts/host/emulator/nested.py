"""Runs our image under Linux's KVM, in a machine that QEMU emulates with its virtualization extensions and its PMU.

The outer machine boots a Linux of the distribution, or Debian's newest one (tests/kvm/outer-linux).  That runs the QEMU
of the same release with -accel kvm, and passes on what our image prints and how it ended.
"""

import dataclasses
import pathlib
import shlex
import subprocess

from host import cpio
from host.emulator import qemu

KVM = qemu.ROOT / "tests" / "kvm"
CHOICES = ("7.3", "7.3,mediated")  # of --outer; without it, the distribution's Linux
# KVM needs these of the outer CPU for a mediated vPMU; both models are measured on the same CPU.
NEWER_CPU = {"arm64": "", "x86_64": ",+perfmon-v2,+vgif,+nrip-save,+x2apic"}
OUTER_MEM = "2G"
ICOUNT_SHIFT = 0


@dataclasses.dataclass(frozen=True)
class Outer:
    machine: list
    console: str
    inner: list
    model: str  # the guest's CPU; --cpu names another one


OUTER = {
    "arm64": Outer(["-M", "virt,gic-version=3,virtualization=on", "-cpu", "max,lpa2=off,cntfrq=1000000000"], "ttyAMA0",
                   ["-M", "virt,gic-version=3"], "host"),
    "x86_64": Outer(["-M", "q35", "-cpu", "EPYC-v1,check=off,pmu=on,+perfctr-core,+svm,+npt"], "ttyS0",
                    ["-M", "q35", "-L", "/usr/share/qemu", "-L", "/usr/share/seabios",
                     "-device", "isa-debug-exit,iobase=0xf4,iosize=4"], "host,migratable=no"),
}


def outer_linux(arch, outer):
    if not (KVM / "outer-linux").exists():
        raise qemu.HostError("nested-kvm: its machine is made from barecpc's source tree: run scripts/barecpc there")
    done = subprocess.run([KVM / "outer-linux", "--path", arch, *outer.split(",")[:1]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise qemu.HostError("no Linux for the outer machine, see above")
    return pathlib.Path(done.stdout.strip())


def machine_of(arch, outer):
    return [*OUTER[arch].machine[:-1], OUTER[arch].machine[-1] + (NEWER_CPU[arch] if outer else "")]


def describe(arch, outer):
    """The outer machine, for records."""
    return f"QEMU's TCG, {' '.join(machine_of(arch, outer))}; Linux {outer or 'of Debian'}"


def _cpus(smp):
    """The outer machine has as many CPUs as the inner one: a CPU that waits for one that does not run wastes its turn."""
    return int(smp.split(",")[0])


def _inner_command(m, cmdline, initrd):
    """A line of shell.  /init sets $models: a word of the kernel's command line, or nothing."""
    words = [qemu.ARCHS[m.arch].qemu, "-accel", "kvm", *OUTER[m.arch].inner,
             "-cpu", OUTER[m.arch].model if m.cpu == "max" else m.cpu, "-smp", m.smp, "-m", m.mem, "-nodefaults",
             "-no-user-config", "-nic", "none", "-display", "none", "-serial", "stdio", "-no-reboot",
             "-chardev", "pipe,id=monitor,path=/tmp/monitor", "-mon", "chardev=monitor,mode=control",
             "-kernel", "/guest/image", *(["-initrd", "/guest/archive"] if initrd else [])]
    return f'exec {shlex.join(words)} -append "$models"{shlex.quote(cmdline)}'


def _outer_command(arch, emulator, folder, files, icount, cpu="", ncpu=1, outer=""):
    """The outer QEMU's command.  Its Linux boots with an initramfs of two archives: the common one, and these files."""
    linux = outer_linux(arch, outer)
    first = (linux / "base.cpio.gz").read_bytes()
    initramfs = folder / "initramfs"
    initramfs.write_bytes(first + b"\0" * (-len(first) % 4) + cpio.pack({"init": (KVM / "init").read_bytes(), **files}))
    *machine, model = machine_of(arch, outer)
    # Linux reads the TSC for 100 ms to calibrate the APIC timer of x86: a third of its boot.  Alone, it can use the HPET.
    one = " noapictimer" if ncpu == 1 else ""
    words = [qemu.find_qemu(arch, emulator), *machine, model + cpu, "-accel", "tcg", "-smp", str(ncpu), "-m", OUTER_MEM, "-nodefaults", "-no-user-config",
             "-nic", "none", "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot", "-seed", "1",
             "-rtc", "base=2024-01-01,clock=vm", "-kernel", str(linux / "vmlinuz"), "-initrd", str(initramfs),
             "-append", f"console={OUTER[arch].console} quiet loglevel=0 panic=-1 tsc=reliable nmi_watchdog=0{one}"]
    return words + (["-icount", f"shift={ICOUNT_SHIFT},sleep=off"] if icount else [])


def command(m, folder, image, cmdline, initrd=None, load=0, outer="", sandbox=()):
    """The outer QEMU's whole command for a run of our image."""
    mediated = outer.endswith(",mediated")
    if mediated and m.arch != "x86_64":
        raise qemu.HostError(f"--outer {outer}: only KVM of x86 has a mediated vPMU: add --arch x86_64")
    files = {
        "guest/image": pathlib.Path(image).read_bytes(),
        "guest/settings": f"load={load}\nmediated={'yes' * mediated}\nqemu={qemu.ARCHS[m.arch].qemu}\n".encode(),
        "guest/qemu": f"{_inner_command(m, cmdline, initrd)}\n".encode(),
    }
    if initrd:
        files["guest/archive"] = pathlib.Path(initrd).read_bytes()
    return [*_outer_command(m.arch, m.qemu, folder, files, m.icount, "", _cpus(m.smp), outer), *sandbox]


def probe_command(arch, folder, pmu):
    """The same for `scripts/barecpc probe` in the outer Linux, on a machine with a PMU or without."""
    package = qemu.ROOT / "scripts" / "host"
    names = [*package.rglob("*.py"), package.parent / "barecpc", qemu.build_file(arch, "probe")]
    files = {f"guest/{name.relative_to(qemu.ROOT)}": name.read_bytes() for name in names}
    files["guest/settings"] = b"probe=yes\n"
    return _outer_command(arch, qemu.PMU, folder, files, True, "" if pmu else ",pmu=off")
