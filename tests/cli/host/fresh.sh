#!/bin/sh
# On a fresh Debian 12 and a fresh Debian 13 the image runs on both architectures, and make check passes.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

for debian in bookworm trixie; do
	if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
		skip "$debian" 'scripts/dev/fresh needs root and debootstrap: scripts/setup --campaign installs it'
		continue
	fi
	check "$debian: make run for both architectures, and make check" scripts/dev/fresh $debian
done
end
