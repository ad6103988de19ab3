#!/bin/sh
# Microbenchmarks: `barecpc nb` counts the instructions of code exactly.  The lines of tests/cli/nb/ARCH are a number of
# instructions and code that has so many.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

# Make the lines of -snippets from those of a table.
lines_of() {
	sed -E 's/^([0-9]+) (.*)$/-asm "\2" -name "\1 \2"/' "$1"
}

# counts: print the code, and what was counted, in the form of the table: `2 ADD ...` for "# 2 ADD ...: 2000 copies" that
# counts 2.
counts() {
	awk '/^# [0-9]+ .* copies/ { sub(/^# [0-9]+ /, ""); sub(/: [0-9]+ copies.*/, ""); code = $0 }
		sub(/^Instructions retired: /, "") { sub(/\.00$/, ""); print $0 " " code }' "$1"
}

fast='-unroll_count 50 -n_measurements 3 -warm_up_count 1'
for arch in arm64 x86_64; do
	lines_of tests/cli/nb/$arch >"$tap_dir/snippets"
	for privilege in user system; do
		# shellcheck disable=SC2086 # $fast has several words
		expect "$arch, $privilege privilege: a boot with all snippets" 0 '^barecpc: exit 0' \
			scripts/barecpc nb --arch $arch --accel tcg -privilege $privilege $fast -snippets "$tap_dir/snippets"
		counts "$out" >"$tap_dir/counted"
		check "$arch, $privilege privilege: each count is exact" diff tests/cli/nb/$arch "$tap_dir/counted"
	done
done
end
