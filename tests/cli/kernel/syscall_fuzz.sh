#!/bin/sh
# Random system calls by LWPs that share memory do not damage the kernel: no panic, no leak, exact counts of a witness.
# The same seed gives the same run.
#
#     tests/cli/kernel/syscall_fuzz.sh [--coverage] [--runs N] [--arch ARCHITECTURE] [--seed SEED]
#
# It runs N seeds from SEED on, on each architecture.  N is 4 by default, 100 in a campaign.
# --coverage uses kernels built with SAN=coverage: programs that run new kernel code are kept and mutated.
# A campaign does both.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# Not with coverage, because its calls make every entry to the kernel longer.
limit="--append kernel_limit=350000"
runs=4
kinds=plain
[ "${BARECPC_CAMPAIGN-}" != yes ] || { runs=100 && kinds='plain coverage'; }
archs='arm64 x86_64'
seed=1
while [ $# -ge 1 ]; do
	case $1 in
	--coverage) kinds=coverage && shift && continue ;;
	--runs) runs=${2-} ;;
	--arch) archs=${2-} ;;
	--seed) seed=${2-} ;;
	*) echo "syscall_fuzz.sh: unknown argument: $1: see the head of the file" >&2 && exit 2 ;;
	esac
	[ $# -ge 2 ] || { echo "syscall_fuzz.sh: $1 needs a value: see the head of the file" >&2 && exit 2; }
	shift 2
done

# fuzz SEED SEEDS options...
# The words have always the same length: a run is the same to the nanosecond only if the stack starts at the same place.
fuzz() {
	first=$(printf %6d "$1")
	n=$(printf %6d "$2")
	shift 2
	scripts/barecpc run --arch "$arch" --accel tcg --timeout $((60 + n * 20)) --payload "build/$arch/tests.cpio" \
		"$@" -- syscall_fuzz "$first" "$n" 16 100
}

# seeds FILE: the seeds with their runs.
seeds() {
	sed -n 's/^# seed \([0-9]*\):.* run \([0-9a-f]*\)$/\1 \2/p' "$1"
}

# shellcheck disable=SC2086 # $limit is two words
plain() {
	expect "$arch: $runs seeds from $seed on" 0 '^barecpc: exit 0' fuzz "$seed" "$runs" $limit
	grep -E '^# (seed|the witness)' "$out"
	seeds "$out" >"$tap_dir/first"
	check "$arch: each seed was a run" test "$(wc -l <"$tap_dir/first")" -eq "$runs"
	expect "$arch: again" 0 '^barecpc: exit 0' fuzz "$seed" 1 $limit
	seeds "$out" >"$tap_dir/again"
	head -n 1 "$tap_dir/first" >"$tap_dir/one"
	check "$arch: seed $seed is the same run again" diff "$tap_dir/again" "$tap_dir/one"
}

coverage() {
	case $arch in
	arm64) image=Image objdump=aarch64-linux-gnu-objdump ;;
	*) image=kernel.elf objdump=x86_64-linux-gnu-objdump ;;
	esac
	check "$arch: SAN=coverage builds" make -s ARCH="$arch" SAN=coverage
	all=$($objdump -d "build/$arch-coverage/kernel.elf" | grep -cE '(call|bl)[[:space:]].*<__sanitizer_cov_trace_pc>$')
	expect "$arch: $runs seeds from $seed on, with coverage" 0 '^barecpc: exit 0' \
		fuzz "$seed" "$runs" --image "build/$arch-coverage/$image" --append test_hooks=yes
	grep -E '^# (seed|coverage|the witness)' "$out"
	# "coverage: BEFORE basic blocks before the calls, AFTER after, KEPT programs kept, MUTATIONS of them mutations"
	counts=$(sed -n 's/^# coverage: //p' "$out" | tr -cs '0-9\n' ' ')
	# shellcheck disable=SC2086 # four words
	set -- ${counts:-0 0 0 0}
	echo "# coverage: $2 of $all basic blocks, $1 of them before the calls"
	check "$arch: the calls reach new code" test "$2" -gt "$1"
	check "$arch: the count is at most the number of blocks" test "$2" -le "$all"
	check "$arch: mutations reach new code, too" test "$4" -gt 0
}

for arch in $archs; do
	for kind in $kinds; do
		$kind
	done
done
end
