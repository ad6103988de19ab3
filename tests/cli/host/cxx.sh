#!/bin/sh
# C++ by barecpc-c++: a static program of glibc and libstdc++ that counts, unwinds and takes signals.  On arm64 its
# handlers return to the kernel's page, because glibc sets no SA_RESTORER there.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

for arch in arm64 x86_64; do
	mkdir "$tap_dir/$arch"
	check "$arch: compiles without a warning" scripts/barecpc-c++ --arch $arch -O2 -Wall -Wextra -Werror \
		-o "$tap_dir/$arch/glibc" tests/cli/programs/glibc.cc
	expect "$arch: runs" 0 '^barecpc: exit 0' scripts/barecpc run --arch $arch --accel tcg \
		--payload "$tap_dir/$arch/glibc"
	check "$arch: each of 9 results is right" test "$(grep -c '^right:' "$out")" = 9
	check "$arch: no line about calls that it can do without" sh -c "! grep 'is not known' '$err'"
done
expect 'a compiler that is barecpc-c++ itself' 1 '^barecpc-c\+\+: calls itself: BARECPC_CXX=' \
	env BARECPC_CXX="$PWD/scripts/barecpc-c++" timeout -k 1 20 scripts/barecpc-c++ --arch arm64 -c tests/cli/programs/glibc.cc
end
