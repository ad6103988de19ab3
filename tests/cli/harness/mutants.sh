#!/bin/sh
# A change of the counting core, the backends, the page tables or the host's readers makes a test fail: tests/mutants.
# Its records are kept in build/tests/mutants.jsonl.  The same commit draws the same changes.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

check 'mutants are drawn and tried' tests/mutants --number 40 --resume --out build/tests/mutants.jsonl
sed -n 's/^survived: /# survived: /p' "$tap_dir/check"
check 'some were killed' grep -q '"result": "killed"' build/tests/mutants.jsonl
check 'each test passes without a change' sh -c '! grep "\"result\": \"unusable\"" build/tests/mutants.jsonl'
end
