#!/bin/sh
# make lint finds nothing: layers, text, formatting, shell, Python.  The checks of layers and text find what they should.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh
check 'lint finds nothing' sh -c "scripts/dev/lint 2>$err || { cat $err && false; }"
unchecked=$(sed -n 's/^lint: \(formatting is not checked: .*\)/\1/p' "$err")
[ -z "$unchecked" ] || skip 'formatting' "$unchecked"

# A program of tests/host that nothing runs proves nothing; registers.c is a part of two.
grep -lE '^(main|[A-Z0-9_]*TEST)\(' -r --include='*.c' --exclude=registers.c tests/host | sed 's,^tests/host/\(.*\)\.c$,\1,' | while read -r name; do
	grep -qE "^$name +tests/host" tests/list || grep -rq "host/tests/$name\b" tests/cli || echo "$name"
done >"$out"
check 'each program of tests/host is run' diff "$out" /dev/null

# plants NAME FILE WORDS LINES: a copy of the tree gets these lines at the end of FILE, for which a check prints these words.
git ls-files -z | xargs -0 cp --parents -t "$tap_dir"
git init -q "$tap_dir" && git -C "$tap_dir" add -A ':!out' ':!err'
plants() {
	printf '%s\n' "$4" >>"$tap_dir/$2"
	printf '%s\n' "$1" "$3" >>"$tap_dir/planted"
}
# refuses CHECK: it fails, and finds all that is planted.  The tree is as before.
refuses() {
	"$tap_dir/$1" >"$out" 2>"$err" && : >"$err"
	while read -r name && read -r words; do
		check "$name" grep -qE -e "$words" "$err"
	done <"$tap_dir/planted"
	rm "$tap_dir/planted"
	git -C "$tap_dir" checkout -q .
}
expect 'calls in an unbuilt tree are not checked, and it says so' 1 '^check-layers: build/: no objects, so no call was checked: run make first$' \
	"$tap_dir/scripts/dev/check-layers" --calls
plants 'an include that goes up is found' kern/mm/page.c kern/debug/limit.h '#include "kern/debug/limit.h"'
plants 'a word of the backends in kcpc is found' kern/cpc/context.c '^kern/cpc/context.c:[0-9]*: ps_be is for backends alone' \
	'uint64_t be(const struct pcbe_set *set) { return set->ps_be; }'
plants 'a second writer of a counter is found' arch/x86/pmu/nmi.c '^arch/x86/pmu/nmi.c:[0-9]*: pmu_wrmsr.. is not for this file' \
	'void load(void) { pmu_wrmsr(IA32_PMC(0), 1); }'
plants 'a second writer of the routing is found' arch/arm64/pmu/pmu.c '^arch/arm64/pmu/pmu.c:[0-9]*: pmu_write_pmintenset.. is not for' \
	'void route(void) { pmu_write_pmintenset(1); }'
plants 'a register of the PMU elsewhere is found' kern/main.c 'arch/x86/pmu/access.h: ' '#include "arch/x86/pmu/access.h"'
# A device register through a plain pointer, in each form: a hypervisor decodes only some of a compiler's accesses.
planted='v = gicd[1];
gicd[1] |= 2;
*gicd = 0;
if (*gicd & 1)
v = *gicd++;
v = *(gicd + 2);
v = gicd->r;
v = unit->regs[3];
v = *(volatile uint32_t *)(pa + 8);
((volatile uint8_t *)pa)[2] = 1;'
for driver in arch/arm64/dev/gicv2.c arch/x86/dev/refclock.c; do
	plants "$driver: a plain access to a register is found" $driver "^$driver:.*use mmio_read32" "volatile uint32_t *gicd, *regs;
$planted"
done
refuses scripts/dev/check-layers
for driver in arch/arm64/dev/gicv2.c arch/x86/dev/refclock.c; do
	check "$driver: in each form" test "$(grep -c "^$driver:.*use mmio_read32" "$err")" = "$(echo "$planted" | wc -l)"
done
# No folder of code is too large to know, and no two folders need each other to be read.
plants 'too many lines in a folder are found' lib/text.c '^lib: [0-9]* files and [0-9]* lines, at most 20 and 4000: ' \
	"$(yes . | head -n 4000)"
plants 'a kernel above its limit is found' lib/text.c '^the kernel: [0-9]* lines, at most [0-9]*: ' ''
plants 'tests above their limit are found' tests/mutants '^the tests: [0-9]* lines, at most [0-9]*: ' "$(yes . | head -n 10000)"
plants 'a function of 61 lines is found' lib/text.c '^lib/text.c: f\(\) has 61 lines, at most 60: divide it$' \
	"$(printf 'void\nf(int a,\n    int b)\n{\n' && yes '	a++;' | head -n 61 && echo '}')"
plants 'a circle of includes is found' lib/string.h '^kern/mm/page, .*lib/string: include each other' '#include "kern/mm/page.h"'
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	echo >"$tap_dir/dev/uart/more$n.c"
done
plants 'too many files in a folder are found' lib/text.c '^dev/uart: [0-9]* files and ' ''
refuses scripts/dev/check-rooms
rm "$tap_dir"/dev/uart/more*.c
printf 'import sys\nsys.path.append("lib")\n' >"$tap_dir/module.py"
expect 'a Python file that changes sys.path is found' 1 'module.py:2: sys.path: name the folders' scripts/dev/check-python "$tap_dir/module.py"
check 'the lists are complete' "$tap_dir/tests/check-list"
touch "$tap_dir/tests/cli/host/idle.sh" "$tap_dir/tests/image/process/idle.c"
chmod +x "$tap_dir/tests/cli/host/idle.sh"
plants 'a script that no list runs' tests/cli/host/idle.sh 'tests/cli/host/idle.sh: no line of tests/list' ''
plants 'a program that nothing runs' tests/image/objs.mk 'no script runs idle_.est' 'TESTS_process := idle_''test'
plants 'a program that is not made' tests/image/process/idle.c 'idle.c: objs.mk does not make it' 'TEST(idle) {}'
plants 'a variable that avoids a fault' tests/list 'one: SLOW= may avoid a fault' \
	'one tests/image - 60 --arch arm64 --env SLOW=yes -- stdio'
plants 'a skip that avoids a fault' tests/image/process/stdio.c 'skips for a fault of QEMU' 'SKIP("QEMU is slow here");'
for reason in '' slow 'Needs two CPUs' 'a campaign: they are fetched'; do
	plants "a skip with the reason '$reason'" tests/image/process/stdio.c "does not say what .*: $reason$" "SKIP(\"$reason\");"
done
plants 'a skip of a script' tests/cli/kernel/leaks.sh '^tests/cli/kernel/leaks.sh: .* does not say what .*: scripts/setup$' \
	"skip 'it' 'scripts/setup'"
plants 'a skip in Python' tests/cli/harness/runner.py '^tests/cli/harness/runner.py: .* does not say what .*: scripts/setup$' \
	'skip("it", "scripts/setup")'
refuses tests/check-list
rm "$tap_dir/tests/cli/host/idle.sh" "$tap_dir/tests/image/process/idle.c"
plants 'an opener is found' kern/mm/page.c "begins with 'Those'" '/* Those that wait go first. */'
plants 'a word of no everyday use is found' docs/tree.md "'beside'" 'It stands beside the other.'
absent=absent.md
plants 'a page that does not exist is found' kern/mm/page.c "page.c:[0-9]*: docs/$absent does not exist" "/* See docs/$absent. */"
plants 'a link that leads nowhere is found' docs/tree.md 'the link to absent.md leads nowhere' '[it](absent.md)'
plants 'a link to a heading that does not exist is found' docs/tree.md 'glossary.md has no heading for #absent' '[it](glossary.md#absent)'
plants 'too many lines of docs are found' docs/tree.md '^docs/: [0-9]* pages and [0-9]* lines, at most 24 and 4000' "$(yes . | head -n 4000)"
plants 'too many lines of README are found' README.md '^README.md: [0-9]* lines, at most 130$' "$(yes '' | head -n 130)x"
plants 'a long sentence is found' scripts/setup '26 words' \
	'# one two three four five six seven eight nine ten one two three four five six seven eight nine ten one two three four five six'
plants 'a prefix of two structs is found' kern/mm/page.c 'begin with pi_' "$(printf 'struct other {\n\tint pi_a;\n\tint pi_b;\n};')"
refuses scripts/dev/check-text
check 'the planted lines are refused' test -s "$err"

# The files and folders that a header names as its includers do include it.  A payload checks each set that it creates.
cat >"$tap_dir/includers.py" <<'END'
import pathlib
import re
import subprocess
import sys

files = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.S"], capture_output=True, text=True, check=True).stdout.split()
texts = {name: pathlib.Path(name).read_text() for name in files}
wrong = []
for header in (name for name in files if name.endswith(".h") and not name.startswith(("include/", "tests/", "qemu/"))):
    head = " ".join(re.match(r"/\*(.*?)\*/|", texts[header], re.S)[0].replace("\n *", " ").split())
    said = re.search(r"Included (?:by|within) (.*?[^.])(?:[.;] |\.? \*/)", head)
    named = said and re.findall(r"[\w/*]+/(?!\w)|[\w/]+\.[chS]\b", said[1])
    if not named:
        continue
    patterns = [re.compile(name.replace("*", "[^/]*") if name.endswith("/") else f"(.*/)?{re.escape(name)}$") for name in named]
    users = [name for name, text in texts.items() if re.search(rf'#include [<"]({header}|{pathlib.Path(header).name})[">]', text)]
    wrong += [f"{header}: {name} does not include it" for name, pattern in zip(named, patterns) if not any(map(pattern.match, users))]
wrong += [f"{name}: a set is not checked" for name, text in texts.items() if name.startswith("payloads/")
          for made in re.finditer(r"cpc_set_create\(", text) if not re.search("[!=]= NULL|fail_unless_room", text[made.start() - 40:made.end() + 120])]
print("\n".join(wrong))
sys.exit(bool(wrong))
END
check 'headers: "Included by" is true; payloads: sets are checked' python3 "$tap_dir/includers.py"
end
