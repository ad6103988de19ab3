#!/bin/sh
# examples/rust: five benchmarks of a Rust crate, counted twice on both architectures, by cargo and its runner.
# Criterion counts, too.  It needs Debian's rustc, cargo and Criterion (scripts/setup --programs and --campaign).
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh
top=$PWD
cargo=/usr/bin/cargo
if ! [ -x $cargo ]; then
	skip 'examples/rust' 'no cargo: scripts/setup --campaign'
	end
	exit
fi
cache=$(scripts/setup --cache)
cp -r examples/rust "$tap_dir/rust"
PATH=$top/scripts:/usr/bin:$PATH CARGO_HOME=$tap_dir/home CARGO_TARGET_DIR=$tap_dir/target BARECPC_BUILD=no
export PATH CARGO_HOME CARGO_TARGET_DIR BARECPC_BUILD
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="--sysroot $cache/programs-arm64/usr -C target-feature=+crt-static"
CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C target-feature=+crt-static"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS

for target in aarch64 x86_64; do
	arch=$([ $target = aarch64 ] && echo arm64 || echo x86_64)
	BARECPC_LIBS=$top/build/$arch/glibc
	export BARECPC_LIBS
	for turn in 1 2; do
		BARECPC_RUN="--results $tap_dir/$arch.$turn" expect "$arch: cargo bench, turn $turn" 0 'barecpc: exit 0' \
			env -C "$tap_dir/rust" $cargo bench --offline --target $target-unknown-linux-gnu
		check "$arch: it counts five benchmarks" test "$(grep -cE '^(sort|fnv1a|sieve|btree|format) +PAPI_tot_ins:u +[1-9]' "$out")" = 5
	done
	check "$arch: both turns leave the same records" cmp "$tap_dir/$arch.1" "$tap_dir/$arch.2"
done
# Criterion has the registry of Debian's packages.
mkdir -p "$CARGO_HOME"
printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n' >"$CARGO_HOME/config.toml"
CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$tap_dir/rust/cargo-runner x86_64"
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER
expect 'Criterion, by its Measurement' 0 'barecpc: exit 0' env -C "$tap_dir/rust/criterion" $cargo bench --offline --target x86_64-unknown-linux-gnu
check 'it counts, in place of time' test "$(grep -c 'time: .*counts' "$out")" = 2
end
