#!/bin/sh
# scripts/setup on other distributions: what it installs, and what it says, with commands of dpkg and apt that are faked here.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# Nothing is installed.  $FAKE_OFFERED is a pattern of grep: the packages that apt's sources have.  apt-get install notes its words.
fake_command dpkg <<'END'
[ "$1" != --print-architecture ] || echo amd64
END
fake_command dpkg-query <<'END'
exit 1
END
fake_command apt-cache <<'END'
case $1 in
show) printf 'Replaces: clang-3.2\nDepends: libc6, clang-%s (>= %s~)\nBreaks: clang-3.2\n' "$FAKE_CLANG" "$FAKE_CLANG" ;;
policy)
	shift
	for p; do
		echo "$p" | grep -qE "$FAKE_OFFERED" && printf '%s:\n  Candidate: 1\n' "$p"
	done ;;
esac
END
fake_command apt-get <<'END'
case " $* " in
*' install '*) echo "$*" >>"$FAKE_INSTALLED" ;;
*' download '*)
	[ -n "${FAKE_DOWNLOADED-}" ] || exit 1
	while [ "$1" != download ]; do
		shift
	done
	shift
	echo "$*" >>"$FAKE_DOWNLOADED"
	for p; do
		touch "$p.deb"
	done ;;
esac
END
fake_command dpkg-deb <<'END'
case $1 in
-f) deb=${2%.deb} && echo "${deb#*:}" ;;
-x) touch "$3/$(basename "$2" .deb)" ;;
esac
END
fake_command id <<'END'
echo 0
END

# setup ID LIKE CLANG OFFERED
setup() {
	printf 'ID=%s\nID_LIKE="%s"\n' "$1" "$2" >"$tap_dir/os-release"
	: >"$tap_dir/installed"
	env PATH="$tap_dir/bin:$PATH" BARECPC_OS_RELEASE="$tap_dir/os-release" BARECPC_CACHE="$tap_dir/cache" FAKE_CLANG="$3" FAKE_OFFERED="$4" \
		FAKE_INSTALLED="$tap_dir/installed" scripts/setup >"$out" 2>"$err"
}

setup debian '' 19 .
check "Debian 13: clang's sanitizers have its version" grep -q ' libclang-rt-19-dev' "$tap_dir/installed"
setup ubuntu debian 18 .
check 'Ubuntu: the same' grep -q ' libclang-rt-18-dev' "$tap_dir/installed"
check 'Ubuntu: its names for cross compilers and firmware' \
	grep -q ' gcc-aarch64-linux-gnu .* ovmf qemu-efi-aarch64 ' "$tap_dir/installed"
setup linuxmint 'ubuntu debian' 18 '^(make|gcc|g[+][+]|clang|git)$'
check 'a descendant of Ubuntu without universe: nothing is installed' test ! -s "$tap_dir/installed"
check 'and the message says what to add' grep -q \
	"^setup: these packages are not in this machine's package sources:.* shellcheck.*: add the component universe" "$err"
setup debian '' 14 '^(make|gcc|g[+][+]|clang|git)$'
check 'Debian without its main component: the message says what to add' grep -q ': add the component main' "$err"
# Make alone, and what is neither run nor check, installs nothing.
printf 'ID=debian\n' >"$tap_dir/os-release"
: >"$tap_dir/installed"
make_goal() { # [GOAL]
	env MAKELEVEL=0 PATH="$tap_dir/bin:$PATH" BARECPC_OS_RELEASE="$tap_dir/os-release" BARECPC_CACHE="$tap_dir/cache" \
		FAKE_CLANG=14 FAKE_OFFERED=. FAKE_INSTALLED="$tap_dir/installed" make -n "$@" >"$out" 2>"$err"
}
for goal in all lint; do
	make_goal $goal
	check "make $goal without the packages: names the command" grep -q '^setup: missing: make gcc .*: run scripts/setup, which installs them$' "$err"
	check "make $goal installs nothing" test ! -s "$tap_dir/installed"
done
make_goal check
check 'make check installs, and says so' sh -c "grep -q '^setup: installing: make gcc ' $err && test -s $tap_dir/installed"
for id in fedora arch; do
	setup $id 'rhel centos' 18 .
	check "$id: one line" test "$(wc -l <"$err")" = 1
	check "$id: it names the distribution and what is needed" grep -qE \
		"^setup: .*distribution $id: install these.*BARECPC_SETUP=no:.* gcc,.* musl .* QEMU .*shellcheck$" "$err"
done
# The message names a package that only scripts/mkevents reads by its content.
for id in debian ubuntu; do
	printf 'ID=%s\n' $id >"$tap_dir/os-release"
	for option in --perf-json --libpfm4; do
		env PATH="$tap_dir/bin:$PATH" BARECPC_OS_RELEASE="$tap_dir/os-release" BARECPC_CACHE="$tap_dir/cache" FAKE_INSTALLED=/dev/null \
			scripts/setup $option >"$out" 2>"$err"
		check "$id: setup $option without its package is an error" test $? != 0
		check "$id: it says what the package provides" \
			grep -qE "^setup: the (perf JSON of Debian's trixie-backports|libpfm4 of Debian's trixie) cannot be fetched: " "$err"
	done
done
# An option that unpacks packages: a copy of the scripts has another list of them.
mkdir "$tap_dir/copy"
cp -r scripts "$tap_dir/copy"
sed -i 's/^[a-z]*_packages="/&another-package /' "$tap_dir/copy/scripts/lib/downloads.sh"
unpack() { # SETUP OPTION
	env PATH="$tap_dir/bin:$PATH" BARECPC_OS_RELEASE="$tap_dir/os-release" BARECPC_CACHE="$tap_dir/cache" \
		FAKE_DOWNLOADED="$tap_dir/downloaded" FAKE_OFFERED=. FAKE_CLANG=14 FAKE_INSTALLED=/dev/null "$1" "$2" 2>"$err"
}
fetches() {
	wc -l <"$tap_dir/downloaded"
}
for option in --loaders --slurm --labgrid --lava --kexec; do
	: >"$tap_dir/downloaded"
	folder=$(unpack scripts/setup $option)
	check "setup $option fetches its packages" test -d "$folder" -a "$(fetches)" = 1
	check "setup $option fetches them once" test "$(unpack scripts/setup $option)" = "$folder" -a "$(fetches)" = 1
	other=$(unpack "$tap_dir/copy/scripts/setup" $option)
	check "setup $option fetches another list of packages" \
		test -n "$(find "$other" -name 'another-package*')" -a -z "$(find "$folder" -name 'another-package*')"
	check "setup $option keeps the folder of the first list" test "$(unpack scripts/setup $option)" = "$folder"
done
: >"$tap_dir/downloaded"
sed -i 's/^program_parts="/&another-package /' "$tap_dir/copy/scripts/lib/programs.sh"
unpack scripts/setup --programs
unpack scripts/setup --programs
check 'setup --programs fetches its packages of both architectures once' test "$(grep -c zstd "$tap_dir/downloaded")" = 2
unpack "$tap_dir/copy/scripts/setup" --programs
check 'setup --programs fetches another list of packages' test "$(grep -c another-package "$tap_dir/downloaded")" = 2
rm "$tap_dir/os-release"
check 'no os-release: one line' sh -c "! env BARECPC_OS_RELEASE=$tap_dir/os-release scripts/setup 2>$err && test \"\$(wc -l <$err)\" = 1"
check 'it says that the distribution is unknown' grep -q 'the distribution unknown: install these' "$err"

# Some packages have a version in their names, which differs between releases.  Debian 12 and 13 share LLVM 19.
check 'no script names a package of one release' sh -c \
	"! git grep -nE '(python3[.]|(gcc|g[+][+]|cpp|clang|llvm|libllvm|linux-image)-|libclang-rt-|libgcc-)[0-9]' -- scripts tests/kvm tests/qemu qemu/README.md Makefile | grep -v 'planted_packages=.llvm-19-dev '"
end
