"""Images of assembly alone, which run on a planted machine.  tests/qemu has their start."""

import json
import pathlib
import subprocess

from host.emulator import qemu

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRIPLE = {"x86_64": "x86_64-linux-gnu-", "arm64": "aarch64-linux-gnu-"}
MACHINE = {"x86_64": ["-M", "q35", "-bios", qemu.QBOOT, "-device", "isa-debug-exit,iobase=0xf4,iosize=4"],
           "arm64": ["-M", "virt,gic-version=3"]}
ENDED = {"x86_64": 33, "arm64": 0}  # the status of an image that came to its end


def build(arch, folder, text):
    here = ROOT / "tests" / "qemu" / ("guest" if arch == "x86_64" else "guest-arm64")
    (folder / "image.s").write_text(text)
    for source in (here / "start.S", folder / "image.s"):
        subprocess.run([TRIPLE[arch] + "gcc", "-c", source, "-o", folder / f"{source.stem}.o"], check=True)
    subprocess.run([TRIPLE[arch] + "ld", "-nostdlib", "-z", "noexecstack", "-z", "max-page-size=4096", "--no-warn-rwx-segments",
                    "--build-id=none", "-T", here / "guest.ld", folder / "start.o", folder / "image.o", "-o", folder / "image"], check=True)
    if arch == "arm64":
        subprocess.run([TRIPLE[arch] + "objcopy", "-O", "binary", folder / "image"], check=True)


def run(arch, folder, machine, cpu="max", smp="1"):
    """Run the image and write the trace.  The status, and the numbers of 8 bytes that it sent."""
    (folder / "m.json").write_text(json.dumps(machine))
    status = subprocess.run([qemu.qemu_pmu("--path", arch), "-accel", "tcg", "-cpu", cpu, "-m", "64", "-display", "none", "-nodefaults",
                             "-no-reboot", "-icount", "shift=0,sleep=off", "-smp", smp, *MACHINE[arch], "-kernel", folder / "image",
                             "-serial", f"file:{folder / 'sent'}",
                             "-plugin", f"{qemu.qemu_pmu('--planted')},machine={folder / 'm.json'},trace={folder / 'trace'}"],
                            stdin=subprocess.DEVNULL, timeout=300, check=False).returncode
    sent = (folder / "sent").read_bytes()
    return status, [int.from_bytes(sent[n:n + 8], "little") for n in range(0, len(sent), 8)]
