#!/bin/sh
# Memory that held code is as fast as other memory in QEMU (kern/mm/populate.c, pages_forget_code()), and so is zeroed memory.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# QEMU writes a line for each store that it must check for translations of code in the same page.
# shellcheck disable=SC2016 # the new script's variables
printf '#!/bin/sh\nexec "$QEMU" "$@" -trace memory_notdirty_write_access $MORE -D "%s"\n' "$tap_dir/trace" >"$tap_dir/qemu"
chmod +x "$tap_dir/qemu"

# few_checks ARCH QEMU
few_checks() {
	scripts/barecpc-cc --arch "$1" -O2 -o "$tap_dir/old_code" tests/cli/programs/kernel/old_code.c
	expect "$1: the program runs" 0 'barecpc: exit 0' env QEMU="$2" \
		scripts/barecpc run --arch "$1" --accel tcg --qemu "$tap_dir/qemu" --payload "$tap_dir/old_code"
	check "$1: it made its stores" grep -qx '800000 stores' "$out"
	# The kernel overwrites 32 pages of code by 16,384 stores or fewer.  All others were 3,000.  If QEMU kept translations, each
	# of the 800,000 stores is a line, and several of each system call.  Below 1 MiB SeaBIOS copies itself.
	lines=$(grep -cvE '^[a-z_]+ 0x[0-9a-f]{1,5} ' "$tap_dir/trace")
	check "$1: QEMU checked $lines stores" test "$lines" -gt 0 -a "$lines" -lt 100000
	# No program comes after this one, so nothing overwrites its code: 373 and 243 stores did.  Each pass of REP STOS is a block for
	# QEMU: zeroing 8 MiB of stack and 2 MiB of kernel took 1.4 million.
	echo 'int main(void) { return 0; }' | scripts/barecpc-cc --arch "$1" -O2 -o "$tap_dir/empty" -x c -
	expect "$1: an empty run" 0 'barecpc: exit 0' env QEMU="$2" MORE='-d exec' \
		scripts/barecpc run --accel tcg --qemu "$tap_dir/qemu" --payload "$tap_dir/empty"
	lines=$(grep -c '^memory_notdirty' "$tap_dir/trace") blocks=$(grep -c '^Trace' "$tap_dir/trace")
	check "$1: QEMU checked $lines stores, and entered $blocks blocks" test "$lines" -lt 100 -a "$blocks" -gt 0 -a "$blocks" -lt 200000
}

few_checks arm64 qemu-system-aarch64
few_checks x86_64 "$(scripts/qemu-pmu --path x86_64)"
end
