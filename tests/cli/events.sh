#!/bin/sh
# The tables of event names are what scripts/mkevents makes of libpfm4's source.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/tap.sh

scripts/mkevents --check >"$out" 2>"$err"
case $? in
0) ok 'the tables are what libpfm4 says' ;;
77) skip 'the tables are what libpfm4 says' "$(tail -n 1 "$err")" ;;
*) not_ok 'the tables are what libpfm4 says' "$(cat "$err")" ;;
esac
expect 'mkevents knows its options' 2 '^mkevents: usage' scripts/mkevents --nonsense
end
