#!/bin/sh
# Random system calls by LWPs that share memory leave the kernel intact: no panic, no leak, exact counts of a witness.
# The same seed gives the same run.
#
#     tests/cli/syscall_fuzz.sh [--runs N] [--arch ARCHITECTURE] [--seed SEED]
#
# It runs N seeds from SEED on, on each architecture.  N is 4 by default, 100 in a campaign.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

runs=4
[ "${BARECPC_CAMPAIGN-}" != yes ] || runs=100
archs='arm64 x86_64'
seed=1
while [ $# -ge 2 ]; do
	case $1 in
	--runs) runs=$2 ;;
	--arch) archs=$2 ;;
	--seed) seed=$2 ;;
	*) break ;;
	esac
	shift 2
done
[ $# -eq 0 ] || { echo "syscall_fuzz.sh: unknown argument: $1: see the head of the file" >&2 && exit 2; }

# fuzz SEED SEEDS options...
fuzz() {
	first=$1
	n=$2
	shift 2
	scripts/barecpc run --arch "$arch" --accel tcg --timeout $((60 + n * 20)) --payload "build/$arch/tests.cpio" \
		--append kernel_limit=350000 "$@" -- syscall_fuzz "$first" "$n" 16 100
}

# Which run each seed was.
seeds() {
	sed -n 's/^# seed \([0-9]*\):.* run \([0-9a-f]*\)$/\1 \2/p' "$1"
}

for arch in $archs; do
	expect "$arch: $runs seeds from $seed on" 0 '^barecpc: exit 0' fuzz "$seed" "$runs"
	grep -E '^# (seed|the witness)' "$out"
	seeds "$out" >"$tap_dir/first"
	check "$arch: each was a run" test "$(wc -l <"$tap_dir/first")" -eq "$runs"
	expect "$arch: again" 0 '^barecpc: exit 0' fuzz "$seed" 1
	seeds "$out" >"$tap_dir/again"
	head -n 1 "$tap_dir/first" >"$tap_dir/one"
	check "$arch: seed $seed is the same run again" cmp -s "$tap_dir/again" "$tap_dir/one"
done
end
