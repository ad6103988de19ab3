#!/bin/sh
# Descriptions of events come from the libpfm4 of the build machine.  No committed file has one.  If the library is
# absent the build works, and `list` says what is missing.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

lines=build/events/descriptions
make -s host-tools >&2 || exit 1

# A table with descriptions has every word of them once.
check 'committed tables have no English words' sh -c "! grep -nE '(\"|.0)(the|of|that|cycles)[\\\\]0' events/generated/*.c"
if [ -s "$lines" ]; then
	awk -F '\t' 'split($4, words, " ") > 7 { print $4 }' "$lines" | sort -u >"$tap_dir/sentences"
	check 'no committed file has a description' \
		sh -c "git ls-files -z | xargs -0 grep -lFf '$tap_dir/sentences' >'$out' 2>&1; cat '$out'; ! [ -s '$out' ]"
	build/host/list --cpu skl INST_RETIRED:ANY_P >"$out" 2>"$err"
	check 'list shows the description that the library has' \
		grep -qxF "$(awk -F '\t' '$1 == "skl" && $2 == "INST_RETIRED" && $3 == "ANY_P" {
			printf "%-48s %s", $2 ":" $3, $4 }' "$lines")" "$out"
	check 'it prints no message' test ! -s "$err"
else
	skip 'no committed file has a description' 'no libpfm4 here'
	skip 'list shows the description that the library has' 'no libpfm4 here'
fi

# without NAME COMMAND: make a folder NAME with the tools.  Its tables are made from $lines as COMMAND changes them.
without() {
	mkdir -p "$tap_dir/$1/events" "$tap_dir/$1/host"
	cp build/host/list "$tap_dir/$1/host"
	sh -c "$2" <"$lines" >"$tap_dir/$1/lines"
	for vendor in intel amd arm; do
		events/mktables/file/table_file.py "events/generated/$vendor.c" "$tap_dir/$1/events/$vendor" "$tap_dir/$1/lines" || return
	done
}
mkdir -p "$tap_dir/none/host"
cp build/host/list "$tap_dir/none/host"
check 'without libpfm4 the tables are built' \
	make -s EVENT_B="$tap_dir/none/events" LIBPFM4=no_such_library "$tap_dir/none/events/intel" "$tap_dir/none/events/arm"
for cpu in skl arm_n1; do
	expect "list says that the descriptions of $cpu are absent" 0 \
		"^list: no description of $cpu's events: libpfm4 was absent when the tables were built: run 'scripts/setup" \
		"$tap_dir/none/host/list" --cpu $cpu inst_retired
	check 'it prints the names' grep -q '^INST_RETIRED' "$out"
done
scripts/mkcpio -o "$tap_dir/none.cpio" --in events "$tap_dir/none/events/intel" payloads/suite
expect 'list says the same in the image' 0 "^list: no description of skl's events: libpfm4 was absent" \
	scripts/barecpc run --accel tcg --arch x86_64 --payload "$tap_dir/none.cpio" -- list --cpu skl inst_retired
if [ -s "$lines" ]; then
	check 'tables of a library without one event' without other "grep -v 'INST_RETIRED	ANY_P'"
	# libpfm4 lacks the other eight.
	expect 'list says how many events lack a description' 0 \
		'^list: no description of 9 of 37 events: libpfm4 had none of them when the tables were built$' \
		"$tap_dir/other/host/list" --cpu skl inst_retired
	check 'it prints the other descriptions' grep -qE '^INST_RETIRED:TOTAL_CYCLES +[A-Z]' "$out"
else
	skip 'list says how many events lack a description' 'no libpfm4 here'
fi
# setup goes on without what the build can do without, and does not try again by itself.
if [ "$(id -u)" = 0 ] && command -v dpkg-query >/dev/null; then
	mkdir -p "$tap_dir/no_net"
	for p in gnu-efi libfdt-dev libqrcodegen-dev zlib1g-dev; do
		mkdir -p "$tap_dir/cache/$p-arm64" "$tap_dir/cache/$p-amd64"
	done
	printf '#!/bin/sh\nexit 100\n' >"$tap_dir/no_net/apt-get"
	chmod +x "$tap_dir/no_net/apt-get"
	set_up() {
		env -u BARECPC_SETUP PATH="$tap_dir/no_net:$PATH" BARECPC_CACHE="$tap_dir/cache" scripts/setup
	}
	expect 'setup goes on without optional packages' 0 '^setup: goes on without: .*libpfm4-dev' set_up
	set_up >"$out" 2>&1
	check 'and tries once' test ! -s "$out"
else
	skip 'setup goes on without optional packages' 'not root on Debian'
	skip 'and tries once' 'not root on Debian'
fi
# Descriptions add at most a quarter to the tables.  The newer libpfm4 (4.13.0+git99) describes more CPUs: 920 KiB in all.
most=896
case $(dpkg-query -W -f '${Version}' libpfm4-dev 2>/dev/null) in *git*) most=960 ;; esac
check "the files of all vendors take at most $most KiB" sh -c \
	"test \$(cat build/events/intel build/events/amd build/events/arm | wc -c) -le $((most * 1024))"
end
