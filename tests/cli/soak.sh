#!/bin/sh
# Four CPUs and some 200 LWPs that count, switch, move, create, fork, exec, take signals and exit, while their counters
# are taken away by sets bound to CPUs and CPUs go offline: nothing hangs, nothing leaks, counts are exact and the
# witness agrees.  The memory is for forks, which copy all of it.
#
#     tests/cli/soak.sh [MILLISECONDS]
#
# of the emulated clock, on each architecture.  One second of it takes the build machine 3 to 5; for ten minutes: 150000.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

ms=${1:-400}
for arch in arm64 x86_64; do
	expect "$arch: ends well" 0 '^barecpc: exit 0' scripts/barecpc run --arch "$arch" --accel tcg --qemu pmu --smp 4 \
		--mem 1G --timeout $((60 + ms / 20)) --append witness=user --payload "build/$arch/tests.cpio" -- soak "$ms"
	check "$arch: counts" grep -qx 'ok 1 - counts_are_exact_until_they_are_taken_away' "$out"
	check "$arch: leaks" grep -qx 'ok 2 - nothing_leaked' "$out"
	check "$arch: the witness" grep -qE '^witness: agrees in each of [1-9]' "$err"
	grep '^# [0-9]' "$out"
done
end
