# Messages and --help for the shell scripts of scripts/, which source this.
# shellcheck shell=sh

say() {
	echo "${0##*/}: $*" >&2
}

die() {
	say "$@"
	exit 1
}

# Something cannot be had here, which is no fault: tests skip by this status.
absent() {
	say "$@"
	exit 77
}

# A mistake of the command line.
mistake() {
	say "$* (see ${0##*/} --help)"
	exit 2
}

# Let a signal end the script by exit, so that what the trap for EXIT removes is removed.
exit_on_signals() {
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# Print the version of barecpc, for --version.  $0 is in scripts/, or a link to a file there.
print_version() {
	python3 "$(dirname "$(readlink -f "$0")")/host/version.py"
}

# Print the comment at the script's top, for -h and --help.
help() {
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
	exit 0
}
