"""Make vmlinuz and base.cpio.gz of unpacked packages.

    mkbase.py ARCH ROOT OUT

The archive is an initramfs: busybox, QEMU, Python, the libraries that they name, QEMU's firmware, and KVM's modules.
A second archive, which scripts/host/emulator/nested.py makes for each run, adds /init and our image.
"""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

QEMU = {"arm64": "qemu-system-aarch64", "x86_64": "qemu-system-x86_64"}
MODULES = {"irqbypass", "ccp", "kvm", "kvm-amd", "cpuid"}  # arm64 has KVM built in
UNPACK = {".ko": ["cat"], ".xz": ["xz", "-dc"], ".zst": ["zstd", "-dc"], ".gz": ["gzip", "-dc"]}
FIRMWARE = re.compile(r"bios-|pvh|linuxboot|multiboot|kvmvapic|efi-virtio|edk2-licenses")
DIRECTORIES = ["bin", "lib", "usr/bin", "usr/lib", "usr/share", "dev", "proc", "sys", "tmp", "modules",
               *(f"guest/scripts/host/{name}" for name in ("console", "emulator", "programs", "results")), "guest/build/arm64", "guest/build/x86_64"]


class Initramfs:
    def __init__(self, root, out):
        self.root, self.out, self.libraries = root, out, {}
        for folder in ("lib", "usr/lib"):
            for path in (root / folder).rglob("*.so*"):
                self.libraries.setdefault(path.name, path)
        for name in DIRECTORIES:
            (out / name).mkdir(parents=True)

    def copy(self, source, target):
        target = self.out / target
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copy(self.real(source), target)

    def real(self, path):
        """The file that a link leads to, with absolute links taken below the unpacked root."""
        while path.is_symlink():
            link = os.readlink(path)
            path = self.root / link.lstrip("/") if link.startswith("/") else path.parent / link
        return path

    def add_program(self, source, target):
        """A program or library, and all that it needs."""
        self.copy(source, target)
        said = subprocess.run(["readelf", "-d", "-l", self.real(source)], capture_output=True, text=True, check=True).stdout
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said):
            if name not in self.libraries:
                raise SystemExit(f"mkbase: {source} needs {name}: no package has it: add its package to outer-linux")
            if not (self.out / "lib" / name).exists():
                self.add_program(self.libraries[name], f"lib/{name}")
        loader = re.search(r"interpreter: /(\S+)\]", said)
        if loader:
            self.copy(self.libraries[os.path.basename(loader[1])], loader[1])


def existing(*paths):
    """The one of these paths that exists: newer packages have no file below /bin or /lib."""
    for path in paths:
        if path.exists():
            return path
    raise SystemExit(f"mkbase: no package has {paths[0].name}: add its package to outer-linux")


def unpack_module(module, folder):
    """Write a module as busybox's insmod takes it.  Distributions compress modules in different ways."""
    command = UNPACK.get(module.suffix, ["cat"])
    try:
        data = subprocess.run([*command, module], stdout=subprocess.PIPE, check=True).stdout
    except FileNotFoundError:
        raise SystemExit(f"mkbase: {module.name} is packed: install the program {command[0]}")
    (folder / f"{module.name.split('.ko')[0]}.ko").write_bytes(data)


def main():
    arch, root, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    tree = out / "tree"
    files = Initramfs(root, tree)
    files.copy(existing(root / "bin/busybox", root / "usr/bin/busybox"), "bin/busybox")
    (tree / "bin/sh").symlink_to("busybox")
    files.add_program(root / "usr/bin" / QEMU[arch], f"usr/bin/{QEMU[arch]}")
    python = files.real(root / "usr/bin/python3")
    files.add_program(python, "usr/bin/python3")
    for module in sorted((root / "usr/lib" / python.name).rglob("*")):
        if module.suffix == ".py" and not {"test", "idlelib", "lib2to3", "ensurepip", "pydoc_data"} & set(module.parts):
            files.copy(module, module.relative_to(root))
        elif module.suffix == ".so" and re.match(r"_(json|ctypes|hashlib|contextvars|asyncio|queue)\.", module.name):
            files.add_program(module, module.relative_to(root))
    for share in ("qemu", "seabios"):
        for path in sorted((root / "usr/share" / share).glob("*")):
            if FIRMWARE.match(path.name) and files.real(path).is_file():
                files.copy(path, f"usr/share/{share}/{path.name}")
    for module in sorted(p for folder in ("lib", "usr/lib") for p in (root / folder / "modules").rglob("*.ko*")):
        if module.name.split(".ko")[0] in MODULES:
            unpack_module(module, tree / "modules")
    kernel, = (*(root / "boot").glob("vmlinuz-*"), *(root / "usr/lib/modules").glob("*/vmlinuz"))
    shutil.copy(kernel, out / "vmlinuz")
    names = "\n".join(str(p.relative_to(tree)) for p in sorted(tree.rglob("*")))
    archive = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=tree, input=names.encode(),
                             stdout=subprocess.PIPE, check=True).stdout
    with gzip.GzipFile(out / "base.cpio.gz", "wb", compresslevel=1, mtime=0) as packed:
        packed.write(archive)
    shutil.rmtree(tree)


if __name__ == "__main__":
    main()
