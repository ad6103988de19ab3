# shellcheck shell=sh disable=SC2154
# Fetches source packages without changing the machine's apt.  A script that sources this sets $work to a folder.

# Write the machine's package sources to $work/apt as sources of source packages, for the function apt below.
derive_sources() {
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mkdir -p "$work/apt/sources" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
	for f in /etc/apt/sources.list.d/*.sources; do
		[ ! -f "$f" ] || awk -v RS= -v ORS='\n\n' -v suite="(^|[ \t])$codename" '
			match($0, /\nSuites:[^\n]*/) && substr($0, RSTART + 8, RLENGTH - 8) ~ suite {
				sub(/Types:[^\n]*/, "Types: deb-src")
				print
			}' "$f"
	done >"$work/apt/sources/main.sources"
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$f" ] || awk -v suite="^$codename" '
			$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ suite) { $1 = "deb-src"; print; next } }' "$f"
	done >"$work/apt/sources/main.list"
}

apt() {
	command apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/sources" \
		-o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=root "$@"
}
