# shellcheck shell=sh disable=SC2154
# Source packages without touching the machine's own apt: sourced by scripts that have set $work, a folder of theirs.

# The machine's own package sources, as sources of source packages, in a folder apt is told to use instead of its own.
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
