#!/bin/sh
# No file of an archive makes the kernel slow.  It finds a name in few steps among any number of files, and lists a
# directory in one pass.  Looking up the symbols of a crashed program is bounded, too, whatever its symbol table holds.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

files=600
for arch in arm64 x86_64; do
	dir=$tap_dir/$arch
	mkdir -p "$dir/deep/er"
	for kind in symbols unnamed; do
		tests/cli/lib/mkelf $arch $kind "$dir/$kind"
	done
	scripts/barecpc-cc --arch $arch -O2 -o "$dir/bounds" tests/cli/programs/kernel/bounds.c
	i=0
	while [ $i -lt $files ]; do
		echo $i >"$dir/file$i"
		echo $i >"$dir/deep/er/file$i"
		i=$((i + 1))
	done
	tests/cli/lib/mkarchive "$dir" "$dir.cpio"
	# Listing, opening and closing one takes at most 12,000 instructions, mostly in the C library, in each of the two.
	expect "$arch: $files files in each of two directories" 0 '^barecpc: exit 0' \
		scripts/barecpc run --arch $arch --accel tcg --payload "$dir.cpio" -- bounds $files 24000
	sed 's/^/# /' "$out"
	status=$([ $arch = arm64 ] && echo 132 || echo 139) # SIGILL, SIGSEGV
	for kind in symbols unnamed; do
		expect "$arch: a crash of $kind" "$status" "^barecpc: $kind: SIG[A-Z]* at pc 0x400100" \
			scripts/barecpc run --arch $arch --accel tcg --payload "$dir.cpio" -- $kind
	done
done
end
