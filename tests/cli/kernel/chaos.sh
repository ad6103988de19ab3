#!/bin/sh
# Random system calls by processes that create, interrupt, end and wait for each other.
# Each call has the result that its model predicts, nothing hangs and nothing leaks.  Runs on one CPU and on four, at
# either privilege, and with very little memory.
#
#     tests/cli/kernel/chaos.sh [MILLISECONDS [ARCHITECTURE [SEED]]]
#
# MILLISECONDS are of the emulated clock, for each architecture and shape.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

ms=${1:-60}

# run NAME ARCHIVE options...
run() {
	name=$1
	archive=$2
	shift 2
	expect "$arch: $name: the run ends with 0" 0 '^barecpc: exit 0' scripts/barecpc run --arch "$arch" --accel tcg \
		--timeout $((60 + ms / 5)) --payload "build/$arch/$archive.cpio" "$@" -- chaos "$ms" "$seed"
	grep -E '^# (tests/|process |[0-9]+ )' "$out" | sed "s/^# /# $name: /"
	check "$arch: $name: results are as predicted" grep -qx 'ok 1 - calls_do_what_their_models_say' "$out"
	check "$arch: $name: nothing leaks" grep -qx 'ok 2 - nothing_leaked' "$out"
}

seed=${3:-1}
for arch in ${2:-arm64 x86_64}; do
	run 'one CPU' tests --append kernel_limit=350000
	run 'four CPUs' tests --qemu pmu --smp 4
	run 'system privilege' tests --append priv=system --append kernel_limit=350000
	# The archive of all tests would fill this memory alone.
	run 'little memory' basic --mem 48M
done
end
