# shellcheck shell=sh disable=SC2154
# Fetches packages and their sources without changing the machine's apt.  A script that sources this sets $work to a folder.

# derive_sources SUITE TYPES: write the machine's package sources to $work/apt, for the function apt below.
# SUITE is a release on the same mirror, or `same` for the machine's own.  TYPES is deb, deb-src, or both.
derive_sources() {
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	suite=$1
	types=$2
	[ "$suite" != same ] || suite=$codename
	mkdir -p "$work/apt/sources" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
	for f in /etc/apt/sources.list.d/*.sources; do
		[ ! -f "$f" ] || awk -v RS= -v ORS='\n\n' -v old="$codename" -v new="$suite" -v types="$types" '
			match($0, /\nSuites:[^\n]*/) && substr($0, RSTART + 8, RLENGTH - 8) ~ "(^|[ \t])" old {
				suites = substr($0, RSTART, RLENGTH)
				gsub(old, new, suites)
				$0 = substr($0, 1, RSTART - 1) suites substr($0, RSTART + RLENGTH)
				sub(/Types:[^\n]*/, "Types: " types)
				print
			}' "$f"
	done >"$work/apt/sources/main.sources"
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$f" ] || awk -v old="$codename" -v new="$suite" -v types="$types" '
			$1 == "deb" {
				for (i = 2; i <= NF; i++)
					if (index($i, old) == 1) {
						$i = new substr($i, length(old) + 1)
						for (n = split(types, type, " "); n > 0; n--) { $1 = type[n]; print }
						next
					}
			}' "$f"
	done >"$work/apt/sources/main.list"
}

# Add one suite of the machine's mirror to $work/apt, for the function apt below.
derive_suite() { # suite
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mkdir -p "$work/apt/sources" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
	for f in /etc/apt/sources.list.d/*.sources; do
		[ ! -f "$f" ] || awk -v RS= -v ORS='\n\n' -v codename="$codename" -v suite="$1" '
			match($0, /\nSuites:[^\n]*/) {
				n = split(substr($0, RSTART + 8, RLENGTH - 8), suites, /[ \t]+/)
				for (i = 1; i <= n; i++)
					if (suites[i] == codename) {
						sub(/Suites:[^\n]*/, "Suites: " suite)
						print
						next
					}
			}' "$f"
	done >"$work/apt/sources/$1.sources"
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$f" ] || awk -v codename="$codename" -v suite="$1" '
			$1 == "deb" { for (i = 2; i <= NF; i++) if ($i == codename) { $i = suite; print; next } }' "$f"
	done >"$work/apt/sources/$1.list"
}

apt() { derived_apt apt-get -q "$@"; }

derived_apt() { # PROGRAM...
	program=$1
	shift
	command "$program" -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/sources" \
		-o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o Acquire::Languages=none \
		-o APT::Sandbox::User=root "$@"
}

# Set $foreign to the options of apt for an empty system of an architecture, on which a package needs all packages down to
# libc.  With suites of Debian, these are its sources, and the last one is preferred.
empty_system() { # ARCH [SUITE]...
	deb=$1
	shift
	mkdir -p "$work/archives/partial"
	: >"$work/status"
	foreign="-o Dir::State::status=$work/status -o APT::Architecture=$deb -o APT::Architectures::=$deb -o APT::Sandbox::User=root"
	[ $# -gt 0 ] || return 0
	for suite; do derive_suite "$suite"; done
	foreign="$foreign -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$work/apt/sources -o Dir::State::lists=$work/apt/lists
		-o Dir::Cache=$work/apt/cache -o Acquire::Languages=none -o APT::Default-Release=$suite"
	# shellcheck disable=SC2086 # a list of words
	apt-get -q $foreign update >"$work/log" 2>&1 || {
		tail -n 5 "$work/log" >&2
		die "apt-get could not fetch the lists of $*: a mirror of Debian must be in apt's sources"
	}
}

# Print the first of these packages that the empty system's sources have in a version that begins with VERSION.
first_offered() { # VERSION PACKAGE...
	version=$1
	shift
	# shellcheck disable=SC2086 # a list of words
	apt-cache $foreign policy "$@" 2>/dev/null | awk -v version="$version" '/^[^ ]/ { p = $1; sub(/:.*/, "", p) }
		$1 == "Candidate:" && $2 != "(none)" && substr($2, 1, length(version)) == version { print p; exit }'
}

# Unpack packages of the empty system, with all that they need, to $work/root.
unpack_closure() { # PACKAGE...
	say "fetching $* ($deb)"
	# shellcheck disable=SC2086 # a list of words
	apt-get -q -y --no-install-recommends --download-only $foreign -o Dir::Cache::archives="$work/archives" \
		install "$@" >"$work/log" 2>&1 || {
		tail -n 5 "$work/log" >&2
		die "apt-get could not fetch $*; try: apt-get update"
	}
	mkdir "$work/root"
	for p in "$work"/archives/*.deb; do
		dpkg-deb -x "$p" "$work/root"
	done
}

# Fetch a source package, and unpack the files whose paths end with FILE to FOLDER.  If that fails, say why: status 1.
fetch_source() { # FOLDER SOURCE FILE
	say "fetching the source of $2"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	exit_on_signals
	cd "$work" || exit
	derive_sources same deb-src
	mkdir new
	{ apt update && apt --download-only --tar-only source "$2" &&
		tar -xf "$2"_*.orig.tar.* -C new --strip-components=1 --wildcards "*/$3"; } >log 2>&1 || {
		say "the source of $2 cannot be fetched: $(tail -n 1 log)"
		return 1
	}
	mv -T new "$1"
}
