#!/usr/bin/env -S PYTHONPATH=scripts:tests/cli/lib python3 -B
"""`barecpc stat` runs dynamic programs with the loader and the libraries that the loader would find, and the record names them."""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import tap
from host.emulator.qemu import HOST_ARCH
from host.programs import linux

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARY = r"""
static __attribute__((noinline)) void quiet(void) { __asm__ volatile(".rept 100000\nnop\n.endr"); }
int bump(int n) { quiet(); for (int i = 0; i < 1000; i++) { n += i; __asm__ volatile(".rept 200\nnop\n.endr"); } return n; }
"""
PLUGIN = "int answer(void) { return 42; }\n"
PROGRAM = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int bump(int n);
int main(int argc, char **argv)
{
	char line[80] = "";
	void *plugin = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	if (argc > 1)
		fgets(line, sizeof line, fopen(argv[1], "r"));
	printf("%s %d %d %s", argv[0], bump(1), plugin != NULL ? ((int (*)(void))dlsym(plugin, "answer"))() : 0, line);
	return 3;
}
"""

# docs/ci.md, "What the emulator lacks".  With a word it executes AVX-512, or SMSTART (Arm ARM, "MSR (immediate)").  Without
# one it asks CPUID or HWCAP2 (Linux, Documentation/arch/arm64/elf_hwcaps.rst) for that, and for AVX2 or SVE2.
LACKING = {"x86_64": ("vpxord %zmm0, %zmm0, %zmm0", '__builtin_cpu_supports("avx512f")', '__builtin_cpu_supports("avx2")'),
           "arm64": (".inst 0xd503477f", "(getauxval(AT_HWCAP2) & 1 << 23)", "(getauxval(AT_HWCAP2) & 1 << 1)")}


def barecpc(*words, cwd=None):
    return subprocess.run([ROOT / "scripts" / "barecpc", *map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)


def stat(*words, cwd=None):
    """Status, output, diagnostics, and records by their payload."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "records"
        done = barecpc("stat", "--accel", "tcg", "-e", "instructions", "--results", path, *words, cwd=cwd)
        records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return done, {record["payload"]: record for record in records}


def build(folder, prefix):
    for name in ("bin", "lib"):
        (folder / name).mkdir(parents=True)
    for name, text in (("bump.c", LIBRARY), ("answer.c", PLUGIN), ("prog.c", PROGRAM)):
        (folder / name).write_text(text)
    compiler = prefix + "-gcc"
    for words in (["-shared", "-fPIC", "-o", "lib/libbump.so", "bump.c"], ["-shared", "-fPIC", "-o", "lib/answer.so", "answer.c"],
                  ["-o", "bin/prog", "prog.c", "-Llib", "-lbump", "-Wl,-rpath,$ORIGIN/../lib"],
                  ["-o", "bin/lost", "prog.c", "-Llib", "-lbump"]):
        subprocess.run([compiler, "-O2", *words], cwd=folder, check=True)
    (folder / "data").write_text("from the file\n")


def programs(arch, folder, options):
    build(folder / "first", linux.TRIPLETS[arch])
    words = [*options, "--with", "data", "--with", folder / "first" / "lib" / "answer.so", "bin/prog", "data", folder / "first" / "lib" / "answer.so"]
    done, records = stat(*words, cwd=folder / "first")
    tap.equal(f"{arch}: library, data and plugin", (done.returncode, done.stdout), (3, "prog 499501 42 from the file\n"))
    sums = {file["program"]: file["sha256"] for file in records["barecpc"]["files"]}
    tap.equal(f"{arch}: the record names the library", [value for file, value in sums.items() if file.endswith("/libbump.so")],
              [hashlib.sha256((folder / "first" / "lib" / "libbump.so").read_bytes()).hexdigest()])
    tap.check(f"{arch}: and the C library and the loader", [] if any("libc.so" in name for name in sums) and any("ld-" in name for name in sums) else list(sums))
    shutil.copytree(folder / "first", folder / "a longer name")
    again = stat(*words, cwd=folder / "a longer name")[1]
    tap.equal(f"{arch}: the same count in another folder", again["stat"]["count"], records["stat"]["count"])
    lost = barecpc("stat", *options, "bin/lost", cwd=folder / "first")
    tap.check(f"{arch}: a missing library is named", [] if lost.returncode == 125 and lost.stderr.startswith("host: /lost: its library libbump.so is not in ")
              and lost.stderr.count("\n") == 1 else [lost.stderr])
    shares(arch, folder / "first", options)
    lacking(arch, folder)
    if options:
        return None
    found = stat(*options, "--env", f"LD_LIBRARY_PATH={folder}/first/lib", "bin/lost", cwd=folder / "first")[0]
    tap.equal(f"{arch}: LD_LIBRARY_PATH", (found.returncode, found.stdout), (3, "lost 499501 0 "))
    (folder / "first" / "linked").symlink_to("bin/prog")
    found = stat(folder / "first" / "linked")[0]
    tap.equal(f"{arch}: $ORIGIN of a program that a link names", (found.returncode, found.stdout), (3, "linked 499501 0 "))
    return records


def lacking(arch, folder):
    """A program that needs what the emulator lacks ends by SIGILL, which names the place; one that asks first does not."""
    code, lacks, has = LACKING[arch]
    (folder / "lacking.c").write_text("#include <sys/auxv.h>\nint main(int argc, char **argv)\n{\n\t(void)argv;\n\tif (argc > 1)\n\t\t__asm__ volatile"
                                      f'("{code}");\n\treturn !!{lacks} << 1 | !!{has};\n}}\n')
    subprocess.run([f"{linux.TRIPLETS[arch]}-gcc", "-static", "-o", "lacking", "lacking.c"], cwd=folder, check=True)
    needs = stat("./lacking", "1", cwd=folder)[0]
    tap.equal(f"{arch}: what the emulator lacks", (stat("./lacking", cwd=folder)[0].returncode, needs.returncode, re.findall(
        r"^barecpc: lacking: SIGILL at pc 0x\w+ \((main)\+0x\w+\)", needs.stderr, re.M)), (1, 132, ["main"]))


def shares(arch, folder, options):
    """Samples in a library have its functions' names: of 100000 instructions, and of 200000 and at most 9 more in each of 1000 rounds."""
    tool = linux.TRIPLETS[arch] + "-"
    debug = f"{tool}objcopy --only-keep-debug lib/libbump.so lib/of && {tool}objcopy --strip-all --add-gnu-debuglink=lib/of lib/libbump.so"
    for strip, quiet, there in (("true", "quiet", "quiet"), (debug, "quiet", "[unknown]"), ("rm lib/of", "[unknown]", "[unknown]")):
        subprocess.run(strip, shell=True, cwd=folder, check=True)
        barecpc("record", *options, "-g", "-c", 997, "-o", folder / "profile", "bin/prog", cwd=folder)
        rows = barecpc("report", "-i", folder / "profile").stdout
        found = [int((re.search(rf" (\d+) .*\] {re.escape(name)}@libbump.so\n", rows) or [0, 0])[1]) for name in (quiet, "bump")]
        guest = {stack.rpartition(";")[2] for record in map(json.loads, (folder / "profile").read_text().splitlines()) for stack, _ in record.get("folded", [])}
        tap.check(f"{arch}: {quiet} and bump of the library have their samples", [] if 100 <= found[0] <= 101 and 200 <= found[1] <= 210
                  and {f"{there}@libbump.so", "bump@libbump.so"} <= guest else [rows])
        if quiet != "[unknown]":
            cut = barecpc("annotate", "-i", folder / "profile", "quiet@libbump.so")
            tap.check(f"{arch}: and annotate cuts it out", [] if cut.stdout.count("\tnop") == 100000 else [cut.stderr, *cut.stdout.splitlines()[:20]])


def commands(folder):
    """The commands of this machine print what they print here."""
    (folder / "data").write_text("b\na\nc\n")
    for words in (["sort", "-r", "data"], ["/usr/bin/wc", "-c", "data"]):
        native = subprocess.run(words, cwd=folder, capture_output=True, text=True).stdout
        done = stat("--with", "data", *words, cwd=folder)[0]
        tap.equal(f"{words[0]} prints the same as here", (done.returncode, done.stdout), (0, native))
    shutil.copy("/usr/bin/cat", folder / "lib")  # /lib is a folder or a link here
    lost = stat("./lib", "data", cwd=folder)[0]
    tap.check("a file that is missing is named", [] if lost.returncode == 1 and lost.stderr.endswith(
        "\nhost: data: a file of this machine that the guest does not have: if the program needs it, give --with data\n") else [lost.stderr])
    tap.equal("and it is not, if it is there", stat("--with", "data", "./lib", "data", cwd=folder)[0].stdout, "b\na\nc\n")
    for words in (["/usr/bin/python3", "-c", "print(1)"], ["/usr/bin/perl", "-MPOSIX", "-e", "print floor(1.5)"]):
        lost = stat(*words, cwd=folder)[0]
        offered = shlex.split(lost.stderr.rpartition("if the program needs them, give ")[2])
        tap.equal(f"{words[0]} runs with what the last line of its failed run offers", (lost.returncode != 0, stat(*offered, *words, cwd=folder)[0].stdout), (True, "1" if "perl" in words[0] else "1\n"))
    said = stat("sh", "-c", "echo /usr /usr/lib /var /proc/cpuinfo /no/file. /bin/sh >&2; printf /%0300d/x 1 >&2; exit 1")[0]
    tap.check("nor one that it has, or that is too large", [] if said.returncode == 1 and "host:" not in said.stderr else [said.stderr])
    (folder / "empty").touch()
    lost = stat("--with", "empty", "--with", "/lib/os-release", "./lib", "empty", "/lib/os-release", "no file", cwd=folder)[0]  # /lib is a link
    tap.equal("nor is an empty one, or one below a link", (lost.returncode, "does not have" in lost.stderr), (1, False))
    (folder / "system.c").write_text('#include <stdlib.h>\nint main(void) { return system("echo $((6 * 7))") >> 8; }\n')
    subprocess.run(["gcc", "-static", "-o", "system", "system.c"], cwd=folder, check=True)
    lost = stat("./system", cwd=folder)[0]
    tap.check("a static program that needs a shell", [] if lost.returncode == 127 and lost.stderr.endswith("give --with /bin/sh\n") else [lost.stderr])
    tap.equal("and has one", stat("--with", "/bin/sh", "./system", cwd=folder)[0].stdout, "42\n")
    (folder / "script").write_text("#!/bin/sh -e\necho $0 $*; cat; exec ./other 'x y'\n")
    (folder / "other").write_text("#! /usr/bin/env\t ./script2 \n")
    link = pathlib.Path("/tmp") / f"{folder.name}.link"
    (folder / "script2").write_text(f"#!/usr/bin/env bash\necho \"$@\"; ln -s script2 {link}; readlink {link}; exit 5\n")
    (folder / "bash").write_text("#!/bin/sh\nexit 9\n")
    for script in ("script", "other", "script2", "bash"):
        (folder / script).chmod(0o755)
    native = subprocess.run(["./script", "a", "b"], cwd=folder, stdin=open(folder / "data"), capture_output=True, text=True)
    link.unlink(missing_ok=True)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"  # the guest has no PATH
    words = [word for name in ("env", "cat", "ln", "readlink", "script2", "other") for word in ("--with", name)]
    done = stat(*words, "--stdin", "data", "./script", "a", "b", cwd=folder)[0]
    tap.equal("scripts, and standard input", (done.returncode, done.stdout), (native.returncode, native.stdout.replace("./script ", "script ")))
    (folder / "script").write_text("#!/no/such\n")
    (folder / "cut").write_bytes(pathlib.Path("/bin/ls").read_bytes()[:64])
    for file, what in (("script", "host: ./script: its interpreter is no program for "), ("cut", "stat: cut: ")):
        said = barecpc("stat", f"./{file}", cwd=folder).stderr
        tap.check(f"{file}: what is wrong is said", [] if any(line.startswith(what) for line in said.splitlines()) else [said])
    done = stat("ls", "/usr/bin")[0]
    tap.equal("ls", (done.returncode, done.stdout), (0, "ls\n"))


def places(folder):
    """Files have the places that they have here, and none is from outside of --sysroot."""
    root = folder / "root"
    (root / "share").mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "share" / "out").symlink_to("/etc/passwd")
    for n in range(42):
        (root / f"link{n}").symlink_to(f"link{n + 1}" if n < 41 else "/etc/passwd")
    for n in ("", 1, 2):
        (root / f"etc/ld.so.conf{n}").write_text(f"include ld.so.conf*\n/of{n}\n")
    there = linux.Root(root)
    tap.equal("links lead to nothing outside", (there.file("/share/out"), there.file("/link0")), (None, None))
    tap.equal("files of ld.so.conf that include each other", list(there.configured()), ["/of2", "/of1", "/of"])
    found = linux.Packed(there, HOST_ARCH)
    found.add_word("/share")
    tap.equal("--with a folder that links to outside", found.files, {})
    found = linux.Packed(linux.Root(), HOST_ARCH)
    with contextlib.chdir(root / "etc"):
        found.add_word(".")
    tap.equal("--with .", list(found.files), ["ld.so.conf", "ld.so.conf1", "ld.so.conf2"])
    found.files["lib/ld-musl-x86_64.so.1"] = root
    found.add_word("/bin/sh")
    tap.check("a program of glibc next to one of musl has its C library", [] if any("/libc.so" in name for name in found.files) else list(found.files))


def changed(folder, records):
    """compare names a library that changed."""
    before, after = folder / "a.jsonl", folder / "b.jsonl"
    for path, record in ((before, records["barecpc"]), (after, json.loads(json.dumps(records["barecpc"]).replace(records["barecpc"]["files"][0]["sha256"], "0" * 64)))):
        path.write_text(json.dumps(records["stat"]) + "\n" + json.dumps(record) + "\n")
    said = barecpc("compare", before, after).stdout
    name = records["barecpc"]["files"][0]["program"]
    tap.check("compare names the file that changed", [] if f"# file: {name}: " in said and said.count("# file: ") == 1 else said.splitlines())


def main():
    with tempfile.TemporaryDirectory(prefix="dynamic.", dir="/var/tmp") as name:  # the guest hides /tmp, where this tree may be
        folder = pathlib.Path(name)
        records = programs(HOST_ARCH, folder / HOST_ARCH, [])
        other = "arm64" if HOST_ARCH == "x86_64" else "x86_64"
        programs(other, folder / other, ["--sysroot", f"/usr/{linux.TRIPLETS[other]}"])
        commands(folder)
        places(folder)
        (folder / "bin").mkdir()
        hidden = barecpc("stat", "--with", "/tmp", "cat").stderr
        tap.check("a folder that the kernel hides", [] if hidden.startswith("host: /tmp") and "hides it" in hidden else [hidden])
        changed(folder, records)
    tap.end()


main()
