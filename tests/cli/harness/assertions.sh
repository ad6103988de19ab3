#!/bin/sh
# Every assertion that a test cites exists, and every assertion is cited.  scripts/dev/assertions finds errors.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# finds NAME PATTERN: scripts/dev/assertions prints a matching line in the small tree.
finds() {
	"$tree/scripts/dev/assertions" --check >"$out"
	check "$1" grep -qE "$2" "$out"
}

check 'all cited IDs exist, and all IDs are cited' scripts/dev/assertions --check

# Assembled from parts, so that this file itself cites nothing.
group=CPC-CPU
tree=$tap_dir/tree
mkdir -p "$tree/scripts/dev" "$tree/docs" "$tree/tests/cli" "$tree/tests/image" "$tree/tests/host" "$tree/build/tests"
cp scripts/dev/assertions "$tree/scripts/dev"
git init -q "$tree"
printf -- '- %s-01: first.\n- %s-02: second.\n' $group $group >"$tree/tests/assertions.md"
printf 'one tests/host - 60\nboot tests/image - 60\n' >"$tree/tests/list"
echo two >"$tree/tests/image/suite"
printf '/* %s-01 */\nTEST(good)\n{\n}\n' $group >"$tree/tests/image/two.c"
finds 'an ID without a citation' "^$group-02: no test cites it\$"
printf -- '- %s-01: first.\n' $group >"$tree/tests/assertions.md"
check 'no other finding' "$tree/scripts/dev/assertions" --check
echo "/* $group-03 */" >"$tree/tests/host/one.c"
finds 'an unknown ID' "^tests/host/one.c: $group-03 is not an assertion"
echo "/* $group-01 */" >"$tree/tests/host/unlisted.c"
finds 'a test that no line of tests/list runs' "^tests/host/unlisted.c: cites $group-01, but no line"

# covers PROOF: the table of the manual has one row, with this proof.
covers() {
	printf '| section | promise | proof |\n| --- | --- | --- |\n| ERRORS | it fails | %s |\n' "$1" \
		>"$tree/tests/manual-coverage.md"
}
rm "$tree/tests/host/unlisted.c"
printf '/* %s-01 */\nTEST(good)\n{\n}\n' $group >"$tree/tests/host/one.c"
covers "$group-01, \`tests/image/two.c:good\`"
check 'a promise with a proof' "$tree/scripts/dev/assertions" --check
covers ''
finds 'a promise without a proof' '^tests/manual-coverage.md: no proof: it fails$'
covers "$group-09"
finds 'a proof that is no assertion' "manual-coverage.md: $group-09 is not an assertion"
covers "\`tests/image/absent.c\`"
finds 'a proof whose file is absent' 'absent.c is not a test'
covers "\`tests/image/two.c:bad\`"
finds 'a proof whose test is absent' 'two.c:bad is not a test'
rm "$tree/tests/manual-coverage.md"

row() {
	"$tree/scripts/dev/assertions" $group-01 | grep -E "two.c:good +$1 +boot\$"
}
check 'a test that has not run' row 'not run'
printf '# two, at user privilege\n1..1\nnot ok 1 - good\n' >"$tree/build/tests/boot.tap"
check 'a test that failed' row FAIL
printf '# two, at user privilege\n1..1\nok 1 - good\n' >"$tree/build/tests/boot.tap"
check 'a test that passed' row ok
printf 'SMALL := three\n' >"$tree/tests/image/objs.mk"
printf 'boot tests/image - 60 --payload build/arm64/small.cpio\n' >"$tree/tests/list"
finds 'a test that is not in the archive of its line' "^tests/image/two.c: cites $group-01, but no line"
printf 'boot tests/image - 60 --payload build/arm64/other.cpio\n' >"$tree/tests/list"
expect 'an unknown archive is not taken for the whole suite' 1 '^assertions: tests/list: other.cpio: its programs are unknown: ' \
	"$tree/scripts/dev/assertions" --check
end
