#!/bin/sh
# Archives with hard links: each name has the file's content, wherever the archive has the data.
# The image's own programs are such links of one file.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

for arch in arm64 x86_64; do
	[ "${BARECPC_BUILD-}" = no ] || make -s ARCH=$arch all >&2 || exit 1
done

cat >"$tap_dir/show.c" <<'END'
#include <stdio.h>

/* Print the first line of each file. */
int
main(int argc, char **argv)
{
	char line[80];

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "r");

		if (f == NULL || fgets(line, sizeof line, f) == NULL)
			printf("%s has none\n", argv[i]);
		else
			printf("%s: %s", argv[i], line);
	}
	return 0;
}
END
dir=$tap_dir/files
mkdir -p "$dir/sub"
scripts/barecpc-cc --arch arm64 -Os -s -o "$tap_dir/show" "$tap_dir/show.c"
echo text >"$dir/text"
ln "$dir/text" "$dir/more"
ln "$dir/text" "$dir/sub/last"
echo other >"$dir/other"
: >"$dir/empty"
ln "$dir/empty" "$dir/void"
names='text more sub/last other'

# shows NAME OPTIONS...: a run prints the files' lines.
shows() {
	tap_shows=$1
	shift
	# shellcheck disable=SC2086 # a list of words
	expect "$tap_shows" 0 '^barecpc: exit 0$' scripts/barecpc run --arch arm64 --accel tcg "$@" -- show $names empty void
	check "$tap_shows: each name has the content" sh -c "grep -v other '$out' | grep -c ': text$' | grep -qx 3"
	check "$tap_shows: another file has its own" grep -qx 'other: other' "$out"
	check "$tap_shows: links of an empty file are empty" sh -c "grep -c 'has none' '$out' | grep -qx 2"
}

cp "$tap_dir/show" "$dir"
(cd "$dir" && find . -type f | sort | cpio --quiet -o -H newc) >"$tap_dir/cpio.cpio"
shows 'the data is with the last link, as cpio writes it' --payload "$tap_dir/cpio.cpio"

# Other programs write it with the first link, or with each.
PYTHONPATH=scripts python3 -B - "$tap_dir" "$dir" <<'END'
import pathlib
import sys

from host import cpio

out, folder = map(pathlib.Path, sys.argv[1:])
show, text, other = ((folder / name).read_bytes() for name in ("show", "text", "other"))


def archive(*links):
    """Text has three links, of which these have data."""
    members = [("show", show, 1, 9), ("other", other, 1, 3), ("empty", b"", 2, 4), ("void", b"", 2, 4)]
    members[2:2] = [(name, text if name in links else b"", 3, 7) for name in ("sub/last", "text", "more")]
    data = b"".join(cpio._member(name, content, 0o100755, ino, nlink=nlink) for name, content, nlink, ino in members)
    return data + cpio._member(cpio.TRAILER, b"", 0, 0)


(out / "first.cpio").write_bytes(archive("sub/last"))
(out / "each.cpio").write_bytes(archive("sub/last", "text", "more"))
END
shows 'the data is with the first link' --payload "$tap_dir/first.cpio"
shows 'the data is with each link' --payload "$tap_dir/each.cpio"
rm "$dir/show"
(cd "$dir" && find . -type f | sort | cpio --quiet -o -H newc) >"$tap_dir/files.cpio"
shows 'an archive and a program' --payload "$tap_dir/files.cpio" --payload "$tap_dir/show"

# Inode numbers may occur again in the next archive of an initrd.
mkdir "$tap_dir/one" "$tap_dir/two"
for folder in one two; do
	cp "$tap_dir/show" "$tap_dir/$folder/show"
	echo "$folder" >"$tap_dir/$folder/$folder"
	ln "$tap_dir/$folder/$folder" "$tap_dir/$folder/$folder-link"
	(cd "$tap_dir/$folder" && find . -type f | sort | cpio --quiet -o -H newc --renumber-inodes)
done >"$tap_dir/joined.cpio"
expect 'two archives in sequence' 0 '' scripts/barecpc run --arch arm64 --accel tcg --payload "$tap_dir/joined.cpio" -- \
	show one one-link two two-link
printf 'one: one\none-link: one\ntwo: two\ntwo-link: two\n' >"$tap_dir/wanted"
check 'links are within their archive' cmp "$out" "$tap_dir/wanted"

# The image's programs.
for arch in arm64 x86_64; do
	check "$arch: the programs are one file" \
		test "$(cpio -it -v --quiet <build/$arch/archive.cpio | awk '/^-rwx/ { print $2 }' | uniq -c | awk '{ print $1 - $2 }')" = 0
	cp build/$arch/bin/spin "$tap_dir/unknown"
	expect "$arch: that file under another name" 2 '^unknown: this file has no program of that name: name it spin ' \
		scripts/barecpc run --arch $arch --accel tcg --payload "$tap_dir/unknown"
done
# An archive may lie neither outside RAM nor in memory that firmware reserves.  The tree says where it is.
board="timeout 120 qemu-system-aarch64 -M virt,gic-version=3,dtb-randomness=off -cpu max -m 256 -display none -serial stdio"
$board -M dumpdtb="$tap_dir/full.dtb" 2>/dev/null
# place NAME START: boot with an archive that is said to be at START.
place() {
	fdtput -t x "$tap_dir/place.dtb" /chosen linux,initrd-start "$2"
	fdtput -t x "$tap_dir/place.dtb" /chosen linux,initrd-end "$(printf %x $((0x$2 + 0x100000)))"
	$board -no-reboot -kernel build/arm64/Image -dtb "$tap_dir/place.dtb" -append 'output=text -- hello' >"$out" 2>&1
	check "an archive $1: one line" grep -q "^barecpc: initrd: 0x100000 bytes at 0x$2 are not in memory that the kernel may use: " "$out"
	check "an archive $1: no fault" sh -c "! grep -q '^kernel fault\|^panic' '$out' && grep -q '^barecpc: exit 125' '$out'"
}
dtc -q -I dtb -O dtb -p 4096 -o "$tap_dir/place.dtb" "$tap_dir/full.dtb"
place 'beyond the end of RAM' 70000000
fdtput -p -t x "$tap_dir/place.dtb" /reserved-memory/firmware@4c000000 reg 0 4c000000 0 1000000
fdtput -t x "$tap_dir/place.dtb" /reserved-memory '#address-cells' 2
fdtput -t x "$tap_dir/place.dtb" /reserved-memory '#size-cells' 2
fdtput "$tap_dir/place.dtb" /reserved-memory ranges
fdtput "$tap_dir/place.dtb" /reserved-memory/firmware@4c000000 no-map
place 'in memory that firmware reserves' 4c000000
end
