#!/bin/sh
# make lint has nothing to say: layers, formatting, shell, Python.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh
check 'nothing to say' scripts/lint
end
