#!/bin/sh
# scripts/setup on other distributions: what it installs, and what it says, with commands of dpkg and apt that are faked here.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

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
*' download '*) exit 1 ;;
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
			grep -qE "^setup: the (source of Linux 6.12, which has the perf JSON,|libpfm4 of Debian's trixie) cannot be fetched: " "$err"
	done
done
rm "$tap_dir/os-release"
check 'no os-release: one line' sh -c "! env BARECPC_OS_RELEASE=$tap_dir/os-release scripts/setup 2>$err && test \"\$(wc -l <$err)\" = 1"
check 'it says that the distribution is unknown' grep -q 'the distribution unknown: install these' "$err"

# Some packages have a version in their names, which differs between releases.
check 'no script names a package of one release' sh -c \
	"! git grep -nE '(python3[.]|(gcc|g[+][+]|cpp|clang|llvm|libllvm|linux-image)-|libclang-rt-|libgcc-)[0-9]' -- scripts tests/kvm tests/qemu Makefile"
end
