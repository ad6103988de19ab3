#!/bin/sh
# tests/kvm/outer-linux finds its packages by what they provide: on any Debian, on Ubuntu, with modules packed in any way.
# apt's commands are faked here.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# $FAKE_KERNEL is the only kernel's package that apt's sources have, in version $FAKE_VERSION.
fake_command apt-cache <<'END'
for p; do
	case $p in
	linux-image-*)
		candidate='(none)'
		[ "$p" != "$FAKE_KERNEL" ] || candidate=$FAKE_VERSION
		printf '%s:\n  Installed: (none)\n  Candidate: %s\n' "$p" "$candidate" ;;
	esac
done
END
fake_command apt-get <<'END'
case $* in *' update') exit 0 ;; esac
echo "$*" >>"$FAKE_ASKED"
echo 'E: no network'
exit 1
END

# outer KERNEL [VERSION [RELEASE]]: the packages that are asked for if this is the only kernel.
outer() {
	: >"$tap_dir/asked"
	env PATH="$tap_dir/bin:$PATH" BARECPC_CACHE="$tap_dir/cache" FAKE_KERNEL="$1" FAKE_VERSION="${2-1}" FAKE_ASKED="$tap_dir/asked" \
		tests/kvm/outer-linux --path x86_64 ${3+"$3"} >"$out" 2>"$err"
}
for kernel in linux-image-amd64 linux-image-generic; do
	outer $kernel
	check "with $kernel it asks for that" grep -qE " install .*$kernel( |$)" "$tap_dir/asked"
	check 'it asks for no version of Python' sh -c "! grep -E 'python3[.][0-9]' '$tap_dir/asked'"
	check 'a failure names the packages' grep -q '^outer-linux: apt-get could not fetch .*libpython3-stdlib' "$err"
done
outer none
check 'without a kernel: one line' test "$(wc -l <"$err")" = 1
check 'it says what is missing' grep -q "^outer-linux: apt's sources have no kernel of Linux for amd64" "$err"
check 'nothing is fetched' test ! -s "$tap_dir/asked"

# Another release of Linux, from Debian's backports.
outer linux-image-amd64 7.3.4-1 7.3
check 'Linux 7.3 and its QEMU are of one suite' \
	grep -qE 'Default-Release=trixie-backports .* install linux-image-amd64 qemu-system-x86 ' "$tap_dir/asked"
check 'of two suites that apt is told of' sh -c "cd '$tap_dir/cache/outer-linux/x86_64-7.3-work/apt/sources' &&
	grep -qw trixie trixie.* && grep -qw trixie-backports trixie-backports.*"
outer linux-image-amd64 7.4.1-1 7.3
check 'a suite with a newer Linux only' grep -q "have no kernel of Linux 7.3 for amd64" "$err"
check 'nothing of it is fetched' test ! -s "$tap_dir/asked"

# unpack FILE: unpack a module to kvm.ko.
python=$(python3 -c 'import sys; print(sys.executable)')
unpack() {
	PYTHONPATH=tests/kvm "$python" -c 'import pathlib, sys
import mkbase
mkbase.unpack_module(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))' "$tap_dir/modules/$1" "$tap_dir" 2>"$err"
}
echo module >"$tap_dir/plain"
mkdir "$tap_dir/modules"
cp "$tap_dir/plain" "$tap_dir/modules/kvm.ko"
gzip -c "$tap_dir/plain" >"$tap_dir/modules/kvm.ko.gz"
xz -c "$tap_dir/plain" >"$tap_dir/modules/kvm.ko.xz"
for suffix in '' .gz .xz; do
	rm -f "$tap_dir/kvm.ko"
	check "a module kvm.ko$suffix" unpack "kvm.ko$suffix"
	check 'is unpacked' cmp -s "$tap_dir/plain" "$tap_dir/kvm.ko"
done
cp "$tap_dir/plain" "$tap_dir/modules/kvm.ko.zst"
path=$PATH
PATH=$tap_dir/bin # it has no zstd
unpack kvm.ko.zst
status=$?
PATH=$path
check 'without its program a packed module is an error' test $status = 1
check 'it names the program' grep -qx 'mkbase: kvm.ko.zst is packed: install the program zstd' "$err"
end
