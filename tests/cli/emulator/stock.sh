#!/bin/sh
# The image suite passes on stock emulators of three releases: arm64 counts, x86-64 has no PMU.
#
#     stock.sh [RELEASE]...    only these, as 11.1
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# suite ARCH PROGRAM ARCHIVE STATUS: all points of a boot pass, and there are many.
suite() {
	name="QEMU $release, $1"
	expect "$name: status $4" "$4" '^barecpc: exit' scripts/barecpc run --accel tcg --arch "$1" \
		--qemu "$folder/$2" --timeout 1100 --payload "build/$1/$3"
	check "$name: no point fails" sh -c "! grep '^not ok' '$out'"
	check "$name: $(grep -c '^ok' "$out") points" test "$(grep -c '^ok' "$out")" -gt 400
}

[ $# -gt 0 ] || set -- 7.2 10.0 11.1
for release; do
	folder=$(tests/qemu/stock "$release" 2>"$err")
	case $? in
	0) ;;
	77)
		skip "QEMU $release" "$(tail -n 1 "$err")"
		continue
		;;
	*)
		not_ok "QEMU $release" "$(tail -n 1 "$err")"
		continue
		;;
	esac
	# With more CPUs no stock emulator gives each its turn within the bounds of tests/image/sched/turns.c.
	suite arm64 qemu-system-aarch64 tests.cpio 0
	suite x86_64 qemu-system-x86_64 basic.cpio 77
done
end
