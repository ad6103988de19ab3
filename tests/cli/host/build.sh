#!/bin/sh
# A second make does nothing, an archive depends on its files only, images are small, and setup finds nothing missing.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

for arch in arm64 x86_64; do
	check "$arch: nothing is left to be made" make -q ARCH=$arch all tests
done

# The images, with the archive and the tables of all events in them.
for image in arm64/Image arm64/BOOTAA64.EFI x86_64/bzImage x86_64/BOOTX64.EFI; do
	bytes=$(stat -c %s build/$image)
	check "$image has $bytes bytes, less than 2 MiB" test "$bytes" -lt $((2 << 20))
done

check 'make alone builds both images' sh -c "make -n | grep -q 'ARCH=.* all'"

echo one >"$tap_dir/one"
echo two >"$tap_dir/two"
check 'an archive' scripts/mkcpio -o "$tap_dir/a.cpio" "$tap_dir/one" "$tap_dir/two"
touch -d 2001-01-01 "$tap_dir/two"
check 'the same files in another order' scripts/mkcpio -o "$tap_dir/b.cpio" "$tap_dir/two" "$tap_dir/one"
check 'make the same archive' cmp "$tap_dir/a.cpio" "$tap_dir/b.cpio"
check 'cpio can read it' sh -c "cpio -it <'$tap_dir/a.cpio' | grep -qx one"
check 'a name occurs once' sh -c "! scripts/mkcpio -o '$tap_dir/c.cpio' '$tap_dir/one' '$tap_dir/one'"

check 'setup finds nothing missing' scripts/setup --check
end
