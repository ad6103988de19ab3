#!/bin/sh
# make lint finds nothing: layers, formatting, shell, Python.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh
check 'lint finds nothing' scripts/lint
end
