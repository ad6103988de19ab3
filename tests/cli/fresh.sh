#!/bin/sh
# On a fresh Debian 12 and a fresh Debian 13 the image runs on both architectures, and tests pass.
# All of make check would take hours here, so a few tests of each kind run in its place.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

for debian in bookworm trixie; do
	if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
		skip "$debian" 'scripts/fresh needs root and debootstrap: scripts/setup --campaign installs it'
		continue
	fi
	check "$debian: make run for both architectures, and some tests" \
		scripts/fresh $debian --tests tests/host lint build setup emulator opcost arm64-gicv3 arm64-mended x86-q35
done
end
