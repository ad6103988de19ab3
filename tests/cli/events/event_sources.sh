#!/bin/sh
# The names of both sources of the tables have the codes of the source that decides.
# events/generated/disagreements.md names it for each name whose sources disagree.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

intel='hsw skx spr glm'
new='adl_grt amd64_fam1ah_zen5 arm_ac76' # only the JSON has these
amd=amd64_fam17h_zen2
arm='arm_n1 arm_v1'

[ "${BARECPC_BUILD-}" = no ] || make -s host-tools >&2 || exit 1
sources() {
	tests/cli/events/event_sources.py "$@" >"$out" 2>&1
}
# agree NAME ARGUMENTS...: a point, with the lines about names that differ.
agree() {
	tap_name=$1
	shift
	if sources "$@"; then
		ok "$tap_name: $(tail -n 1 "$out")"
	else
		not_ok "$tap_name" "$(head -n 20 "$out")"
	fi
}

# without NAME...: the last command failed.  Its status 77 means that a source cannot be had, and the points are skipped.
without() {
	status=$?
	for tap_name; do
		if [ $status = 77 ]; then
			skip "$tap_name" "$(tail -n 1 "$err")"
		else
			not_ok "$tap_name" "status $status: $(tail -n 3 "$err")"
		fi
	done
}

if json=$(scripts/mkevents --json 2>"$err"); then
	# shellcheck disable=SC2086 # lists of words
	agree 'every name of the JSON for ten CPUs' json "$json" $intel $amd $arm $new
	agree 'names drawn at random over all CPUs' random "$json" 300 20261122
else
	without 'every name of the JSON for ten CPUs' 'names drawn at random over all CPUs'
fi

# libpfm4_codes COMPILER OPTIONS...: the installed library's codes.
libpfm4_codes() {
	"$@" -O1 -static -o "$tap_dir/codes" events/mktables/file/codes.c -lpfm
}
# The tables are made from 4.13.  A later library calls some events otherwise.
installed=$(dpkg-query -W -f '${Version}' libpfm4-dev 2>/dev/null)
case $installed in
4.13.0-*) other= ;;
*) other="libpfm4 ${installed:-is absent} here, not 4.13" ;;
esac
if [ -z "$other" ] && libpfm4_codes gcc 2>"$err"; then
	# shellcheck disable=SC2086 # lists of words
	"$tap_dir/codes" $intel $amd >"$tap_dir/x86"
	agree 'every name of libpfm4 for five of them, of x86' libpfm4 "$tap_dir/x86"
elif [ -n "$other" ]; then
	skip 'every name of libpfm4 for five of them, of x86' "$other"
else
	not_ok 'every name of libpfm4 for five of them, of x86' "$(cat "$err")"
fi
dir=$(scripts/setup --cache)/libpfm4-dev-arm64/usr
[ -d "$dir" ] && command -v qemu-aarch64 >"$out" || other=${other:-no libpfm4 for arm64 here, or no qemu-aarch64}
# shellcheck disable=SC2086 # a list of words
if [ -z "$other" ] && libpfm4_codes aarch64-linux-gnu-gcc "-I$dir/include" "-L$dir/lib/aarch64-linux-gnu" 2>"$err" &&
	qemu-aarch64 "$tap_dir/codes" $arm >"$tap_dir/arm64" 2>"$err"; then
	agree 'every name of libpfm4 for two of them, of arm64' libpfm4 "$tap_dir/arm64"
elif [ -n "$other" ]; then
	skip 'every name of libpfm4 for two of them, of arm64' "$other"
else
	not_ok 'every name of libpfm4 for two of them, of arm64' "$(cat "$err")"
fi
# Debian 13's library, from the cache.
if [ -z "$json" ]; then
	skip 'every name that only the newer libpfm4 has' 'no JSON'
elif newer=$(scripts/mkevents --newer 2>"$err"); then
	gcc -O1 -static -I"$newer/amd64" -o "$tap_dir/codes" events/mktables/file/codes.c "$newer/amd64/libpfm.a"
	"$tap_dir/codes" >"$tap_dir/newer"
	agree 'every name that only the newer libpfm4 has, of x86' newer "$json" "$tap_dir/newer" \
		adl_glc adl_grt gnr amd64_fam1ah_zen5
	aarch64-linux-gnu-gcc -O1 -static -I"$newer/arm64" -o "$tap_dir/codes" events/mktables/file/codes.c "$newer/arm64/libpfm.a"
	qemu-aarch64 "$tap_dir/codes" >"$tap_dir/newer"
	agree 'every name that only the newer libpfm4 has, of arm64' newer "$json" "$tap_dir/newer" \
		arm_n3 arm_v3 arm_monaka arm_ac55 arm_ac72 arm_ac76
else
	without 'every name that only the newer libpfm4 has'
fi
expect 'a name that no manual settles is refused' 1 \
	'^encode: UOPS_EXECUTED.CORE_STALL_COUNT: its sources disagree: see events/generated/disagreements.md$' \
	build/host/encode --cpu wsm_ex UOPS_EXECUTED.CORE_STALL_COUNT
end
