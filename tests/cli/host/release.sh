#!/bin/sh
# `make release` refuses what is no release, and makes the same bytes twice.  Debian's QEMU runs each image by the command in
# its notes.  The tarball needs nothing of a machine but Python.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh
BUILT=$PWD/build
EMULATOR=$(dirname "$(scripts/qemu-pmu --path x86_64)")
export BUILT EMULATOR
version=$(cat VERSION)

# The campaign builds the packages.  Else they are made here of what this tree has built.
if [ "${BARECPC_CAMPAIGN-}" != yes ]; then
	BARECPC_XZ=0
	export BARECPC_XZ
	fake_command dh </dev/null
	fake_command dpkg-buildpackage <<'END'
[ -z "${FAKE_FAILS-}" ] || exit 1
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
mkdir -p build/man ../barecpc-qemu/usr/lib/barecpc/qemu
ln -s "$BUILT"/arm64 "$BUILT"/x86_64 "$BUILT"/host build && cp -r "$BUILT"/events build # which make-deb makes again
: >build/man/barecpc.1
scripts/install /usr ../barecpc.tree
cp "$EMULATOR"/qemu-system-* ../barecpc-qemu/usr/lib/barecpc/qemu
mv ../barecpc-qemu ../barecpc-qemu.tree
for package in barecpc barecpc-qemu; do
	mkdir ../$package.tree/DEBIAN
	printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: x\nDescription: x\n' $package "$version" \
		"$(dpkg --print-architecture)" >../$package.tree/DEBIAN/control
	dpkg-deb --root-owner-group -Zgzip -z1 --build ../$package.tree "../${package}_${version}_$(dpkg --print-architecture).deb"
done
END
	PATH=$tap_dir/bin:$PATH
fi
git clone -q . "$tap_dir/one"
cd "$tap_dir/one" || exit 1
git config user.name test && git config user.email test@localhost
git tag -d "v$version" >/dev/null 2>&1
make=scripts/package/make-release
sed -i "s/^## $version, .*/## $version, not released/" CHANGELOG.md && echo >>CHANGELOG.md
expect 'a tree with changes is refused' 1 '^make-release: .*: CHANGELOG.md$' $make "$tap_dir/made"
git commit -qam 'no day'
expect 'a version without a day is refused' 1 '^make-release: CHANGELOG.md: .* no day' $make "$tap_dir/made"
sed -i "s/^## $version, not released/## $version, 2026-11-27/" CHANGELOG.md
git commit -qam "a release"
expect 'a folder that exists is refused' 1 '^make-release: .*: exists: ' $make "$tap_dir"
git tag "v$version" HEAD~1
expect 'the tag of another commit is refused' 1 "^make-release: v$version is the tag of another commit" $make "$tap_dir/made"
git tag -d "v$version" >/dev/null
git clone -q . "$tap_dir/the other"
if [ "${BARECPC_CAMPAIGN-}" != yes ]; then
	expect 'a build that fails' 1 '^make-deb: dpkg-buildpackage failed' env FAKE_FAILS=yes $make "$tap_dir/made"
	check 'it leaves no folder and no tag' sh -c "! test -e $tap_dir/made && ! git rev-parse -q --verify v$version"
fi
expect 'a release' 0 '^make-release: v' $make "$tap_dir/made"
check 'its tag is that of the commit' test "$(git rev-parse "v$version^{commit}")" = "$(git rev-parse HEAD)"
check 'another one, elsewhere, by another user' sh -c "umask 077 && cd '$tap_dir/the other' && TZ=Asia/Tokyo $make $tap_dir/again"
check 'they have the same bytes' diff -r "$tap_dir/made" "$tap_dir/again"
rm -rf "$tap_dir/again" "$tap_dir/one" "$tap_dir/the other"

cd "$tap_dir/made" || exit 1
check 'the checksums' sha256sum -c SHA256SUMS
check 'the disk for Google' test "$(tar -tzf barecpc-gce.tar.gz)" = disk.raw
check 'the disk for Azure' test "$(tail -c 512 barecpc-azure.vhd | head -c 8)" = conectix
check 'the disk for AWS' test "$(head -c 520 barecpc-aws.raw | tail -c 8)" = 'EFI PART'
check 'vpmu.img ends in half an hour' grep -aq 'output=text keep=no deadline=1800 -- vpmu' vpmu.img
other=$(dpkg --print-architecture | sed 's/amd64/other/; s/arm64/amd64/; s/other/arm64/')
dpkg-deb -R "barecpc_${version}_$other.deb" "$tap_dir/foreign"
check 'a package for hosts of the other architecture' test "$(dpkg-deb -f "barecpc_${version}_$other.deb" Architecture)" = "$other"
check 'its tools are of that, and static' test "$(LC_ALL=C readelf -hl "$tap_dir"/foreign/usr/lib/barecpc/build/host/* |
	grep -cE 'Machine: .*(AArch64|X86-64)|INTERP')" = 3
check 'its sums' sh -c "cd '$tap_dir/foreign' && md5sum --quiet -c DEBIAN/md5sums"
dpkg-deb -R "barecpc_${version}_$(dpkg --print-architecture).deb" "$tap_dir/native"
check 'it differs in nothing else' test "$(diff -rq "$tap_dir/native/usr" "$tap_dir/foreign/usr" | sed 's/ differ$//; s|.*/||' |
	sort | paste -s -d ' ')" = 'encode fits libcpc.pc libpayload.pc list'
check 'of all files' test "$(wc -l <SHA256SUMS)" = "$(find . -type f ! -name SHA256SUMS | wc -l)"
check 'the notes have the changes' grep -q '^- ' NOTES.md
sed -n 's/^    qemu-/qemu-/p' NOTES.md >"$tap_dir/commands"
check 'the notes have a command for each image' test "$(grep -oE '(barecpc|vpmu)\.img|bzImage|Image|kernel.elf' "$tap_dir/commands" |
	sort | uniq -c | awk '{ print $2, $1 }' | paste -s -d ';')" = 'Image 1;barecpc.img 2;bzImage 1;kernel.elf 1;vpmu.img 2'

# By QEMU of the distribution.  Its x86-64 has no counters, its arm64 before 10.0 fails points of overflow.
while read -r command; do
	name=$(echo "$command" | grep -oE 'qemu-system-[a-z0-9_]*|[A-Za-z]*\.img|bz?Image|Image|kernel.elf' | paste -s -d ' ')
	timeout -k 2 200 sh -c "$command" </dev/null >"$tap_dir/line" 2>"$err"
	status=$?
	tr -d '\r' <"$tap_dir/line" >"$out"
	case $name in
	*aarch64*vpmu*) wanted='[01]' machine=0 ;;
	*aarch64*) wanted=0 machine=0 ;;
	*) wanted=77 machine=35 ;;
	esac
	check "$name: the last line" sh -c "tail -n 1 $out | grep -qx 'barecpc: exit $wanted'"
	check "$name: QEMU's status" test $status = $machine
	case $name in
	*vpmu*)
		check "$name: TAP" grep -qE '^1\.\.([1-9][0-9]+$|0 # SKIP )' "$out"
		check "$name: JUnit" python3 -c 'import sys, xml.etree.ElementTree as tree
text = open(sys.argv[1]).read()
suite = tree.fromstring(text[text.index("<testsuite "):text.index("</testsuite>") + 12])
sys.exit(len(suite) != int(suite.get("tests")))' "$out"
		;;
	*aarch64*) check "$name: it counts" grep -qE '^spin/pic0 .*PAPI_tot_ins:u  *4000 ' "$out" ;;
	esac
done <"$tap_dir/commands"

# A root with Python, env and a shell, and no other file.
root=$tap_dir/root
mkdir "$root" "$root/tmp" "$root/dev"
if ! mknod -m 666 "$root/dev/null" c 1 3 2>/dev/null; then
	skip 'an empty root' 'needs root, for mknod and chroot'
	end
	exit
fi
user='' # or root
put() { # FILE...: a file, with the libraries that it needs
	for file; do
		mkdir -p "$root$(dirname "$file")"
		cp -L "$file" "$root$file"
		ldd "$file" 2>/dev/null | awk '$2 == "=>" { print $3 } $1 ~ "^/" { print $1 }' | while read -r library; do
			mkdir -p "$root$(dirname "$library")"
			cp -L "$library" "$root$library"
		done
	done
}
folder=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
for tool in env sh dirname sed cat readlink sha256sum tar xz; do put "$(command -v $tool)"; done
put /usr/bin/python3 "$folder"/lib-dynload/*.so
cp -r "$folder" "$root$(dirname "$folder")"
cp ./*.tar.xz SHA256SUMS "$root/tmp"
# in_root COMMAND: a line of shell in that root.
in_root() {
	chroot ${user:+--userspec=$user} "$root" /usr/bin/env -i PATH=/usr/bin:/bin:/tmp/there/bin HOME=/tmp /bin/sh -c "cd /tmp && $1"
}
[ -e "$root/bin/sh" ] || put /bin/sh
check 'an empty root: the tarball is right and unpacks' in_root 'sha256sum -c --ignore-missing SHA256SUMS && tar -xf *.tar.xz'
mv "$root"/tmp/barecpc-*-linux-*[!z] "$root/tmp/there"
check 'it has the licences of what it brings' test -s "$root/tmp/there/share/doc/licences/libglib2.0-0"
for arch in arm64 x86_64; do
	expect "an empty root: $arch" 0 '^barecpc: exit 0' in_root "barecpc run --arch $arch -- spin"
	check "an empty root: $arch counts" grep -qE '^spin/pic0 .*PAPI_tot_ins:u  *4000 ' "$out"
done
ln -s there/lib/barecpc/qemu/qemu-system-x86_64 "$root/tmp/emulator"
check 'an empty root: its emulator by a link' in_root './emulator --version'
if [ "${BARECPC_CAMPAIGN-}" = yes ]; then
	check 'its tools need no library' sh -c "ldd $root/tmp/there/lib/barecpc/build/host/encode 2>&1 | grep -q 'not a dynamic'"
	check 'they find the table of a CPU' "$root/tmp/there/bin/barecpc" encode --cpu skl INST_RETIRED:ANY_P
fi
expect 'an empty root: two CPUs' 0 '^barecpc: exit 0' in_root 'barecpc run --arch arm64 --smp 2 -- spin'
# The page's commands as they stand, by a user who has the release's files alone: docs/machine.md.  The machine is QEMU's.
mkdir "$root/tmp/new" && cp ./* "$root/tmp/new"
for tool in mktemp truncate mkdir cp mv rm ln du tail head tr cut od wc dd gzip awk mtools sgdisk qemu-img; do put "$(PATH=$PATH:/usr/sbin command -v $tool)"; done
for name in mformat mmd mcopy; do ln -s mtools "$root/usr/bin/$name"; done
cp -r --parents /usr/lib/*-linux-gnu/gconv "$root" # mtools' names
chown -R 1000:1000 "$root/tmp"
user=1000:1000
sed -n '/^## Run it on a machine/,/^| form/s/^    \$ //p' "$BUILT/../docs/machine.md" >"$tap_dir/page"
check 'the page has the commands around those of a provider' test "$(wc -l <"$tap_dir/page")" = 5
check 'a new user: from the download to a disk' in_root "cd new && set -e
$(sed 4q "$tap_dir/page")"
check 'a new user: a machine, whose console is kept' in_root "cd new && tar -xzf disk.tar.gz && \
	barecpc-*/lib/barecpc/qemu/qemu-system-aarch64 -M virt,gic-version=3 -cpu max -icount shift=0,sleep=off -m 256 -nodefaults \
	-display none -serial file:console.log -no-reboot -bios uefi-arm64.fd -drive format=raw,if=virtio,file=disk.raw"
expect 'a new user: barecpc read' 0 '^barecpc: exit 0' in_root "cd new
$(sed -n '2p; 5p' "$tap_dir/page")"
check 'a new user: the records' grep -q '"label":"spin/pic0"' "$root/tmp/new/records.jsonl"
end
