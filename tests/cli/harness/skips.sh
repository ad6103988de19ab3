#!/bin/sh
# A test skips if scripts/setup says by status 77 that something cannot be had here.  Any other failure of it fails the test.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh
export BARECPC_BUILD=no BARECPC_CACHE="$tap_dir/cache" PYTHONDONTWRITEBYTECODE=1
cat >"$tap_dir/engine.py" <<-'PY'
	import fleet_engine
	fleet_engine.unpacked("slurm")
PY
# On such a distribution scripts/setup ends with status 1.
echo 'ID=other' >"$tap_dir/os-release"
# Without a network apt-get fails.
for command in apt-get apt; do
	fake_command $command <<-'SH'
		echo 'no network' >&2
		exit 100
	SH
done
for test in tests/cli/boot/boards.py "env PYTHONPATH=tests/cli/lib python3 $tap_dir/engine.py"; do
	# shellcheck disable=SC2086 # a command
	env BARECPC_OS_RELEASE="$tap_dir/os-release" $test >"$out" 2>"$err"
	status=$?
	name=${test##*/}
	check "$name: fails with scripts/setup" sh -c "[ $status = 1 ] && grep -q '^not ok' $out"
	# shellcheck disable=SC2086 # a command
	env PATH="$tap_dir/bin:$PATH" $test >"$out" 2>"$err"
	check "$name: skips without a network" sh -c "grep '^ok .*# SKIP' $out && ! grep '^not ok' $out"
done
expect 'scripts/setup: what cannot be fetched has status 77' 77 'cannot be fetched' env PATH="$tap_dir/bin:$PATH" scripts/setup --dtb
end
