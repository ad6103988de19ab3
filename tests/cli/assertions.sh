#!/bin/sh
# Every assertion that a test cites exists, and those that must be are cited; scripts/assertions finds what is not so.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

# finds NAME PATTERN: in the small tree, on standard output.
finds() {
	"$tree/scripts/assertions" --check >"$out"
	check "$1" grep -qE "$2" "$out"
}

check 'all cited ids are known, and all that must be are cited' scripts/assertions --check

# In pieces: this file cites nothing.
group=CPC-CPU
tree=$tap_dir/tree
mkdir -p "$tree/scripts" "$tree/docs" "$tree/tests/cli" "$tree/tests/image" "$tree/tests/host" "$tree/build/tests"
cp scripts/assertions "$tree/scripts"
git init -q "$tree"
printf -- '- %s-01: first.\n- %s-02: second.\n' $group $group >"$tree/docs/assertions.md"
printf 'one tests/host - 60\nboot tests/image - 60\n' >"$tree/tests/list"
echo two >"$tree/tests/image/suite"
printf '/* %s-01 */\nTEST(good)\n{\n}\n' $group >"$tree/tests/image/two.c"
finds 'an id nobody cites' "^$group-02: no test cites it\$"
printf -- '- %s-01: first.\n- PC%s-02: second.\n' $group TX >"$tree/docs/assertions.md"
check 'else nothing' "$tree/scripts/assertions" --check
echo "/* $group-03 */" >"$tree/tests/host/one.c"
finds 'an id that does not exist' "^tests/host/one.c: $group-03 is no assertion"
echo "/* $group-01 */" >"$tree/tests/host/unlisted.c"
finds 'a test that no line runs' "^tests/host/unlisted.c: cites $group-01, and no line"

row() {
	"$tree/scripts/assertions" $group-01 | grep -E "two.c:good +$1 +boot\$"
}
check 'a test that has not run' row 'not run'
printf '# two, at user privilege\n1..1\nnot ok 1 - good\n' >"$tree/build/tests/boot.tap"
check 'one that failed' row FAIL
printf '# two, at user privilege\n1..1\nok 1 - good\n' >"$tree/build/tests/boot.tap"
check 'one that passed' row ok
end
