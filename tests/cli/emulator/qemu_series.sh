#!/bin/sh
# The patches of qemu/: scripts/qemu-pmu --try says which of them apply to another source, and the page names each.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

series=$(cd qemu && echo fixes/*.patch hooks/*.patch)
n=$(echo "$series" | wc -w)
source=$tap_dir/source
mkdir -p "$source/system"

expect 'no folder' 2 'nosuch: no folder with QEMU.s source' scripts/qemu-pmu --try "$source/nosuch"
expect 'a folder without QEMU' 1 "$n patches do not apply as a whole" scripts/qemu-pmu --try "$source"
check 'each patch has a line with a file' test "$(grep -c '^FAIL  .*\.patch: [a-z]' "$out")" = "$n"

# The lines that the first patch expects are a source to which that one applies.
sed -n '/^@@/,$p' qemu/fixes/01-kick.patch | sed -n 's/^[- ]//p' >"$source/system/cpu-timers.c"
cp "$source/system/cpu-timers.c" "$tap_dir/before"
expect 'a source to which one patch applies' 1 "$((n - 1)) patches do not apply" scripts/qemu-pmu --try "$source"
check 'that one is ok' grep -qx 'ok    fixes/01-kick.patch' "$out"
check 'the source is left as it was' cmp "$tap_dir/before" "$source/system/cpu-timers.c"
check 'no other file is left there' test "$(find "$source" -type f | wc -l)" = 1

for p in $series; do
	name=${p##*/}
	check "$p: on the page" grep -q "\`${name%.patch}\`" qemu/README.md
	check "$p: signed off" grep -q '^Signed-off-by: ' "qemu/$p"
done
end
