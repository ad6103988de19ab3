#!/bin/sh
# Retired instructions are counted exactly, without tolerance, on every arm64 machine of QEMU.
# This holds on every PIC, at either privilege, for user, system and both.  spin knows the length of its loop and fails
# by itself.  This script reads its table again, because a test that checks itself could forget to.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

SHORT=1000 LONG=123456
INSTRUCTIONS=$((2 * (LONG - SHORT)))

# exact NAME PICS PRIVILEGE options...
exact() {
	name=$1
	pics=$2
	own=$3
	shift 3
	expect "$name" 0 '^barecpc: exit 0' scripts/barecpc run --arch arm64 --accel tcg "$@" -- spin $SHORT $LONG
	# Rows: spin/picN, event:filter, count, per iteration, tick, hrtime, range.
	awk -v n=$INSTRUCTIONS -v own="$own" '$1 ~ /^spin/ {
		want = $2 ~ ":.*" own ? n : 0
		if ($3 != want || $7 != 0) print
	}' "$out" >"$tap_dir/wrong"
	check "$name: every row is exact" diff "$tap_dir/wrong" /dev/null
	check "$name: $pics PICs, three filters each" test "$(grep -c '^spin/pic' "$out")" = $((3 * pics))
}

exact 'user' 6 u
exact 'system' 6 k --append priv=system
exact 'user, cortex-a72' 6 u --cpu cortex-a72
exact 'system, cortex-a72' 6 k --cpu cortex-a72 --append priv=system
exact 'user, entered at EL2' 6 u --machine virtualization=on
exact 'system, entered at EL2, GICv2' 6 k --machine virtualization=on,gic-version=2 --append priv=system
exact 'user, four CPUs' 6 u --smp 4
exact 'system, four CPUs, cortex-a72' 6 k --smp 4 --cpu cortex-a72 --append priv=system
end
