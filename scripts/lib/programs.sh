# shellcheck shell=sh disable=SC2034,SC2154
# Packages of tests/programs/list, and what fetches them.  scripts/setup sources this, with fetch_unpacked() and $cache.

# Compilers, and commands of this machine, to install.
program_packages="golang-go rustc gfortran gfortran-$cross zsh ruby flac"
# Programs and libraries, to unpack for both architectures.  Some have another name in a newer release.
# A program that the distribution lacks is left out, and tests/cli/tools/programs.py reports it.
program_parts="busybox-static zstd lz4 libjpeg-turbo-progs libturbojpeg0 openssl lua5.4 stress-ng libsqlite3-dev libbenchmark-dev libbenchmark1debian libbenchmark1.8.3
	libstd-rust-dev libc6 libgcc-s1 libstdc++6 zlib1g liblzma5 liblz4-1 libzstd1 libssl3 libssl3t64 libreadline8 libreadline8t64
	libtinfo6 libapparmor1 libbsd0 libmd0 libcrypt1 libegl1 libgbm1 libgles2 libglvnd0 libjpeg62-turbo libjudydebian1 libkmod2
	bash dash sed grep gzip xz-utils bzip2 jq bc mawk coreutils diffutils sqlite3 flac libjq1 libonig5 libbz2-1.0 libacl1
	libattr1 libselinux1 libpcre2-8-0 libgmp10 libsqlite3-0 libflac12 libflac14 libogg0
	libsctp1 libxxhash0 libdrm2 libexpat1 libwayland-server0 libffi8 libxcb1 libxcb-randr0 libxau6 libxdmcp6 libipsec-mb1"
# The package of a source, and the file to take from it.
program_source=sqlite3 program_file=test/speedtest1.c

# Print those of program_parts that apt's sources have for an architecture.
program_offered() { # ARCH
	# shellcheck disable=SC2046,SC2086 # lists of words
	apt-cache policy $(printf "%s:$1\n" $program_parts) |
		awk -v arch="$1" '/^[^ ]/ { split($1, name, ":") } $1 == "Candidate:" && $2 != "(none)" { printf "%s:%s ", name[1], arch }'
}

fetch_programs() {
	mkdir -p "$cache"
	exec 9>"$cache/programs.lock"
	flock 9
	if [ "$(cat "$cache/programs.list" 2>/dev/null)" != "$program_parts $program_source $program_file" ]; then
		rm -rf "$cache/programs-amd64" "$cache/programs-arm64" "$cache/programs-source"
		echo "$program_parts $program_source $program_file" >"$cache/programs.list"
	fi
	for arch in amd64 arm64; do
		[ ! -d "$cache/programs-$arch" ] || continue
		offered=$(program_offered $arch)
		[ -n "$offered" ] || die "apt's sources have no program of tests/programs for $arch: run scripts/setup, then this again"
		(fetch_unpacked "$cache/programs-$arch" "$offered")
	done
	# Without sources in apt's mirror the folder stays empty.
	[ -d "$cache/programs-source" ] || (fetch_source "$cache/programs-source" "$program_source" "$program_file") ||
		mkdir -p "$cache/programs-source"
	exec 9>&-
}
