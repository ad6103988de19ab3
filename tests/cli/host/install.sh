#!/bin/sh
# An installation by `make install` works without the tree, stays unchanged in use, and has right manual pages.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh
top=$PWD

prefix=$tap_dir/prefix
check 'make install' make -s install PREFIX="$prefix" DESTDIR=
check 'with DESTDIR' make -s install PREFIX=/usr DESTDIR="$tap_dir/dest"
check 'a PREFIX with &' sh -c "make -s install PREFIX='/usr/a&b' DESTDIR='$tap_dir/and' &&
	grep -qxF 'prefix=/usr/a&b' '$tap_dir/and/usr/a&b/lib/pkgconfig/libcpc.pc'"
check 'the same files' sh -c "(cd $prefix && find . | sort) >$tap_dir/a && (cd $tap_dir/dest/usr && find . | sort) | diff $tap_dir/a -"
# The debug information of programs and images may name the tree.
check 'no text names the tree or DESTDIR' sh -c "! grep -rIl -e '$top' -e '$tap_dir/dest' $tap_dir/dest"
git clone -q . "$tap_dir/tree" && ln -s "$top/build" "$tap_dir/tree/build" && : >"$tap_dir/tree/examples/ci/primes"
check 'a tree in which an example was built' "$tap_dir/tree/scripts/install" "$tap_dir/worked"
check 'it installs the same files' sh -c "(cd $tap_dir/worked && find . | sort) | diff $tap_dir/a -"
expect 'a relative PREFIX' 2 'PREFIX usr: not an absolute path' scripts/install usr

# The build of the packages is a campaign: a builder that makes two files takes its place, and tools that do little.
mkdir "$tap_dir/bin" "$tap_dir/debs"
cat >"$tap_dir/bin/dpkg-deb" <<'END'
#!/bin/sh
[ "$1" = -R ] || exec touch "$4"
mkdir -p "$3/DEBIAN" "$3/usr/lib/pkgconfig" && touch "$3/DEBIAN/control" "$3/usr/lib/pkgconfig/libcpc.pc"
END
for name in dh make aarch64-linux-gnu-strip x86_64-linux-gnu-strip; do
	printf '#!/bin/sh\n' >"$tap_dir/bin/$name"
done
printf '#!/bin/sh\ntouch ../barecpc_2_amd64.deb ../barecpc-qemu_2_amd64.deb\n' >"$tap_dir/bin/dpkg-buildpackage"
chmod +x "$tap_dir"/bin/*
for name in barecpc_1_amd64 barecpc-qemu_1_amd64 barecpc-doc_1_all other_1_all; do
	: >"$tap_dir/debs/$name.deb"
done
check 'make-deb' env PATH="$tap_dir/bin:$PATH" scripts/package/make-deb "$tap_dir/debs"
check 'make-deb: of the folder it removes only old packages of its own names' test "$(cd "$tap_dir/debs" && echo *.deb)" = \
	'barecpc-doc_1_all.deb barecpc-qemu_2_amd64.deb barecpc_2_amd64.deb other_1_all.deb'

check 'pages: mandoc' sh -c "mandoc -T lint -W warning $prefix/share/man/man?/*.?"
found() { # each page of a command is found by its name, and says how to call it
	grep -Lx '\.Sh EXAMPLES' "$prefix"/share/man/man3/*.3
	for page in "$prefix"/share/man/man1/*.1; do
		name=$(basename "$page" .1)
		grep -qxF "$name \\- $(sed -n "/^\.SH NAME/{n;s/^[^ ]* .- //p;}" "$page")" "$page" || echo "$name: NAME"
		for section in SYNOPSIS EXAMPLES '"SEE ALSO"'; do
			grep -qxF ".SH $section" "$page" || echo "$name: $section"
		done
		sed -n '/^\.EX$/{n;p;}' "$page" | grep -q '^barecpc' || echo "$name: no command in docs/install.md"
	done
}
check 'pages: man -k finds commands, and all have SYNOPSIS, EXAMPLES and SEE ALSO' test -z "$(found)"
for page in README.md docs/README.md docs/record.schema.json; do
	check "documents: $page" cmp "$page" "$prefix/share/doc/barecpc/$page"
done
pages=$prefix/share/man/man3
# shellcheck disable=SC2016
wanted=$(grep -oE '`(cpc|pctx)_[a-z0-9_]+(\(\))?`' tests/manual-coverage.md | tr -d '`()' | sort -u)
check 'pages: functions are listed' test "$(echo "$wanted" | wc -l)" -ge 32
missing=
for name in $wanted; do
	[ -e "$pages/$name.3" ] || missing="$missing $name"
done
check 'pages: each function that the manual describes' test -z "$missing"
check 'pages: an entry says what its header says' grep -q 'Open a handle.' "$pages/cpc_open.3"
for name in barecpc barecpc-run barecpc-nb barecpc-cc barecpc-mkdisk; do
	check "pages: $name" test -s "$prefix/share/man/man1/$name.1"
done

chmod -R a-w "$prefix"
find "$prefix" -type f -exec sha256sum {} + | sort >"$tap_dir/before"
PATH=$prefix/bin:$PATH
PYTHONDONTWRITEBYTECODE=1
export PATH PYTHONDONTWRITEBYTECODE
cp -r "$prefix/share/doc/barecpc/examples" "$tap_dir"
chmod -R u+w "$tap_dir/examples"
check 'all examples are there, with their modes' test "$(cd "$tap_dir" && find examples -type f -printf '%P %m\n' | sort)" = \
	"$(git ls-files -s examples | sed 's/^100\(...\) [^ ]* 0.examples.\(.*\)/\2 \1/' | sort)"
cd "$tap_dir/examples" || exit 1

# counts FILE NAME: the line of a program, which counted something.
counts() {
	grep -qE "^$2: [1-9][0-9]* instructions" "$1"
}

for arch in arm64 x86_64; do
	expect "$arch: examples/suite, by make" 0 'barecpc: exit 0' make -s -C suite run ARCH=$arch
	check "$arch: its first program counts" counts "$out" dot
	check "$arch: its second program counts" counts "$out" copy

	expect "$arch: examples/bench, by make" 0 'barecpc: exit 0' make -s -C bench run ARCH=$arch
	check "$arch: it counts for each size" test "$(grep -cE '^(quick|insertion)/(8|64|512) +PAPI_tot_ins:u +[1-9]' "$out")" = 6
	check "$arch: kernels of known length" barecpc-cc --arch $arch -O2 -I"$top/tests/cli/programs" -o bench/known \
		"$top/tests/cli/programs/bench.c" -lpayload
	expect "$arch: they run" 0 'barecpc: exit 0' barecpc run --arch $arch --payload bench/known -- known --filter turns
	check "$arch: exactly two instructions for each turn" test "$(awk '$2 == "PAPI_tot_ins:u" { print $1, $3 - 4 }' "$out" |
		tr '\n' ';')" = 'turns/8 16;turns/64 128;turns/512 1024;turns/4096 8192;'

	check "$arch: CMake's toolchain file" cmake -S snippet -B snippet/$arch -DBARECPC_ARCH=$arch \
		-DCMAKE_TOOLCHAIN_FILE="$prefix/lib/cmake/barecpc/toolchain.cmake" -DCMAKE_PREFIX_PATH="$prefix"
	check "$arch: examples/snippet, by CMake" cmake --build snippet/$arch
	check "$arch: its tests" ctest --test-dir snippet/$arch --output-on-failure
done
# The commands of examples/ci, with the same program twice.
check 'examples/ci: barecpc-cc' barecpc-cc --arch x86_64 -O2 -o primes ci/primes.c
for tree in a b; do
	check "examples/ci: stat, $tree" barecpc stat -e PAPI_tot_ins:u --results $tree.jsonl ./primes
done
expect 'a command of this machine' 0 'Performance counter stats for ./usr/bin/true' barecpc stat --accel tcg true
check 'examples/ci: compare' barecpc compare --markdown --fail-above 0% a.jsonl b.jsonl

if command -v meson >/dev/null && command -v ninja >/dev/null; then
	check 'examples/stick, by Meson' meson setup stick/build stick --cross-file stick/x86_64.ini
	check 'its image' ninja -C stick/build
	check 'its test' meson test -C stick/build
else
	skip 'examples/stick, by Meson' 'no meson or no ninja: scripts/setup --package'
fi

PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
arch=$(pkg-config --variable=arch libcpc)
# shellcheck disable=SC2046 # words
check 'pkg-config: a static program of glibc' gcc $(pkg-config --cflags libcpc) -O2 -o dot suite/dot.c \
	$(pkg-config --libs libcpc)
expect 'it runs' 0 'barecpc: exit 0' barecpc run --arch "$arch" --payload dot
check 'it counts' counts "$out" dot
# shellcheck disable=SC2046 # words
check 'pkg-config: benchmarks by <bench.h>' gcc $(pkg-config --cflags libpayload) -O2 -o sort bench/sort.c \
	$(pkg-config --libs libpayload)
expect 'they run' 0 'barecpc: exit 0' barecpc run --arch "$arch" --payload sort -- sort --filter quick/8
check 'they count' grep -qE '^quick/8 +PAPI_tot_ins:u +[1-9]' "$out"
if [ "${BARECPC_CAMPAIGN-}" = yes ]; then
	check "CMake's find_package without the toolchain file" cmake -S snippet -B snippet/glibc -DCMAKE_PREFIX_PATH="$prefix"
	check 'its programs' cmake --build snippet/glibc
	expect 'they run' 0 'barecpc: exit 0' barecpc run --arch "$arch" --payload snippet/glibc/dot
	check 'they count' counts "$out" dot
fi
check 'pkg-config knows the version' pkg-config --exact-version="$(cat "$top/VERSION")" libcpc

check 'list has the tables of CPUs' sh -c 'barecpc list --cpu skl | grep -q INST_RETIRED'
check 'the version is that of the tree' test "$(barecpc --version)" = "$("$top/scripts/barecpc" --version)"
expect 'nested-kvm needs the source' 125 'nested-kvm: .*source' barecpc run --arch arm64 --accel nested-kvm -- spin
# shellcheck disable=SC2016
check 'completion' bash -c '. "$0/share/bash-completion/completions/barecpc"
	COMP_WORDS=(barecpc ru) COMP_CWORD=1; _barecpc; [ "${COMPREPLY[*]}" = run ] &&
	COMP_WORDS=(barecpc run --payl) COMP_CWORD=2; _barecpc; [ "${COMPREPLY[*]}" = --payload ]' "$prefix"
find "$prefix" -type f -exec sha256sum {} + | sort >"$tap_dir/after"
check 'nothing was written there' diff "$tap_dir/before" "$tap_dir/after"
chmod -R u+w "$prefix"

echo "1..$tap_points"
[ $tap_failed = 0 ]
