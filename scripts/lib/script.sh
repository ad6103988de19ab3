# What the shell scripts of this folder say: sourced by them.
# shellcheck shell=sh

say() {
	echo "${0##*/}: $*" >&2
}

die() {
	say "$@"
	exit 1
}

# A mistake of the command line.
mistake() {
	say "$* (see ${0##*/} --help)"
	exit 2
}

# What -h and --help print: the comment at the script's top.
help() {
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
	exit 0
}
