#!/bin/sh
# Print what libpfm4 says of the events of every CPU that it knows, as `names describe` does.
#
# A build of the library knows the CPUs of one architecture.  The one of this machine comes from the package
# libpfm4-dev.  The other architecture's is in the folder of scripts/setup --cache, and qemu-user runs it.  If one is
# absent, its CPUs have no descriptions, and a line on standard error says so.
#
#     describe_all.sh    LIBPFM4=name: look for this library instead of `pfm`
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
. "$top/scripts/lib/script.sh"
case ${1-} in
'') ;;
-h | --help) help ;;
*) mistake "unknown option $1" ;;
esac
cache=$("$top/scripts/setup" --cache)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# describe CPUS COMPILER EMULATOR OPTIONS...: the lines of one library.
describe() {
	cpus=$1 compiler=$2 emulator=$3
	shift 3
	# shellcheck disable=SC2086 # no emulator is no word
	if "$compiler" -O1 -static "$@" -o "$work/describe" "$top/events/mktables/file/names.c" \
		"-l${LIBPFM4:-pfm}" 2>"$work/log" && $emulator "$work/describe" describe >"$work/lines" 2>>"$work/log"; then
		cat "$work/lines"
	else
		say "no descriptions of $cpus events: libpfm4 for it is absent: run scripts/setup --optional"
	fi
}

other() { # CPUS DEBIAN'S NAME, GNU'S NAME
	dir=$cache/libpfm4-dev-$2/usr
	describe "$1" "$3-linux-gnu-gcc" "qemu-$(echo "$3" | tr - _)" -I"$dir/include" -L"$dir/lib/$3-linux-gnu"
}

if [ "$(uname -m)" = aarch64 ]; then
	describe "arm64's" gcc ''
	other "x86-64's" amd64 x86-64
else
	describe "x86-64's" gcc ''
	other "arm64's" arm64 aarch64
fi
