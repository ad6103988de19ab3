#!/bin/sh
# The scripts of examples/fleet answer each mistake with one line, before they start a job.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

fleet=examples/fleet
export BARECPC=scripts/barecpc

# refused NAME LINE command...: the command fails, and LINE is all that it says.
refused() {
	tap_claim=$1 tap_line=$2
	shift 2
	expect "$tap_claim" 1 "^$tap_line$" "$@"
	check "$tap_claim: one line" test "$(wc -l <"$err")" = 1
}

printf 'arch = arm64\nprogram = spin\ncpu = cortex-a53 cortex-a72\n' >"$tap_dir/two"
# shellcheck disable=SC2016 # a template's dollar
echo 'job_name: $nonsense' >"$tap_dir/template"
echo 'a log' >"$tap_dir/log"
echo 'targets: {}' >"$tap_dir/board.yaml"
fake_command python3 <<'END'
exit 1
END
fake_command barecpc <<'END'
echo '1: cpu=cortex-a53'
echo '2: cpu=cortex-a72'
END

refused 'LAVA: no template' 'job: /none: No such file or directory' $fleet/lava/job /none "$tap_dir/two" 1
refused 'LAVA: an unknown word in a template' "job: $tap_dir/template: no template: known words are \\\$cpu, .*" \
	$fleet/lava/job "$tap_dir/template" "$tap_dir/two" 1
refused 'LAVA: no barecpc' "job: /none: No such file or directory: set BARECPC to barecpc's path" \
	env BARECPC=/none $fleet/lava/job $fleet/lava/qemu-job.yaml "$tap_dir/two" 1
if python3 -c 'import yaml' 2>/dev/null; then
	refused 'LAVA: no log' 'console: /none: No such file or directory' $fleet/lava/console /none
	refused 'LAVA: not a log of LAVA' "console: $tap_dir/log: no line of a board's console: .*" $fleet/lava/console "$tap_dir/log"
else
	skip 'LAVA: logs' 'no python3-yaml'
fi
refused 'Slurm: not installed' "submit: sbatch: not found: run this where Slurm's commands are" \
	env PATH="$tap_dir/bin" $fleet/slurm/submit "$tap_dir/two" "$tap_dir/results"
refused 'labgrid: no environment' 'sweep: /none: no such file' $fleet/labgrid/sweep /none "$tap_dir/two" "$tap_dir/results"
refused 'labgrid: not installed' 'sweep: python3 has no labgrid or pytest: .*' \
	env PATH="$tap_dir/bin:$PATH" $fleet/labgrid/sweep "$tap_dir/board.yaml" "$tap_dir/two" "$tap_dir/results"
fake_command python3 <<'END'
exit 0
END
refused 'labgrid: points that would run the same' "sweep: $tap_dir/board.yaml: does not use \\\$LG_CMDLINE: give a sweep of one point" \
	env BARECPC=barecpc PATH="$tap_dir/bin:$PATH" $fleet/labgrid/sweep "$tap_dir/board.yaml" "$tap_dir/two" "$tap_dir/results"
check 'no folder of results is made' test ! -e "$tap_dir/results"
end
