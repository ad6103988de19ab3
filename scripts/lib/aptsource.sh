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

# Write one suite of the machine's mirror to $work/apt, for the function apt below.
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
	done >"$work/apt/sources/main.sources"
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$f" ] || awk -v codename="$codename" -v suite="$1" '
			$1 == "deb" { for (i = 2; i <= NF; i++) if ($i == codename) { $i = suite; print; next } }' "$f"
	done >"$work/apt/sources/main.list"
}

apt() {
	command apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/sources" \
		-o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o Acquire::Languages=none \
		-o APT::Sandbox::User=root "$@"
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
