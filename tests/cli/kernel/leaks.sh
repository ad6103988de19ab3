#!/bin/sh
# The launcher finds each thing that a program leaves in the kernel, and says which: tests/cli/programs/kernel/keep.c has the kernel keep one.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

for arch in arm64 x86_64; do
	scripts/barecpc-cc --arch $arch -o "$tap_dir/keep" tests/cli/programs/kernel/keep.c || exit 1
	# left NAME STATUS LINE WORDS...: what the launcher says of the program with these words.
	left() {
		tap_line=$3
		tap_leak="$arch: $1"
		tap_ends=$2
		shift 3
		expect "$tap_leak" "$tap_ends" "$tap_line" scripts/barecpc run --arch $arch --accel tcg --append test_hooks=yes \
			--payload "$tap_dir/keep" -- keep "$@"
	}
	left 'nothing is kept' 0 '^boot: '
	grep -q 'leak:' "$err" && not_ok "$arch: nothing is kept, and nothing is found" "$(cat "$err")"
	left 'a page' 125 '^barecpc: leak: keep left behind 1 page\(s\), 0 LWP\(s\), 0 context\(s\), 0 PIC\(s\)$' 0
	left 'an LWP' 125 '^barecpc: leak: keep left behind 0 page\(s\), 1 LWP\(s\), 0 context\(s\), 0 PIC\(s\)$' 1
	left 'a context and its PIC' 125 '^barecpc: leak: keep left behind 0 page\(s\), 0 LWP\(s\), 1 context\(s\), 1 PIC\(s\)$' 2
	left 'five pages' 125 '^barecpc: leak: keep left behind 5 page\(s\), 0 LWP' 0 0 0 0 0
done
end
