# shellcheck shell=sh disable=SC2154
# Downloads into the cache, which nothing installs.  scripts/setup sources this, with $cache, root(), and the functions of
# script.sh and aptsource.sh.

# The readers in events/vendors/ take facts from the perf JSON in this package.
json_package=linux-source-7.3 json_suite=trixie-backports
# scripts/mkevents reads this one of a newer Debian, for both architectures.
newer_package=libpfm4-dev newer_suite=trixie

# Print the names and the contents of a folder's files as one SHA-256.
folder_hash() {
	(cd "$1" && find . -type f | LC_ALL=C sort | xargs sha256sum) | sha256sum | cut -c 1-64
}

# Fetch packages of another suite of Debian's to the working folder, or say why not and what they are.
fetch_from() { # SUITE, WHAT, PACKAGES...
	suite=$1 what=$2
	shift 2
	say "fetching $* of Debian's $suite"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	exit_on_signals
	cd "$work" || exit
	derive_suite "$suite"
	{ apt update && apt download "$@"; } >log 2>&1 || {
		tail -n 3 log >&2
		absent "$what of Debian's $suite cannot be fetched: its package is $1: a mirror of Debian must be in apt's sources"
	}
}

# Move a folder to the cache.  Its name there ends with the hash of its content.
keep_folder() { # FOLDER, NAME
	to=$cache/$2-$(folder_hash "$1")
	mkdir -p "$cache"
	rm -rf "$to"
	cp -r "$1" "$to.$$"
	mv -T "$to.$$" "$to"
}

# Unpack the JSON of x86 and arm64 to a folder of the cache, and print the folder.
fetch_json() {
	fetch_from "$json_suite" 'the perf JSON' "$json_package"
	dpkg-deb --fsys-tarfile "$json_package"_*.deb | tar -xO "./usr/src/$json_package.tar.xz" |
		tar -xJ --strip-components=4 "$json_package/tools/perf/pmu-events/arch/x86" \
			"$json_package/tools/perf/pmu-events/arch/arm64"
	keep_folder arch perf-json
	echo "$to"
}

# Unpack both architectures' libpfm4 of the newer Debian to a folder of the cache.
fetch_newer() {
	fetch_from "$newer_suite" 'the libpfm4' "$newer_package:amd64" "$newer_package:arm64"
	for arch in amd64 arm64; do
		dpkg-deb -x "$newer_package"_*_$arch.deb all
		mkdir -p newer/$arch
		cp -r all/usr/include/perfmon newer/$arch
		mv all/usr/lib/*/libpfm.a newer/$arch
	done
	keep_folder newer libpfm4-newer
}

# The package that this one of arm64 depends on has the device trees of boards.
trees_package=linux-image-arm64 trees_suite=bookworm-backports

# Unpack the device trees of boards to a folder of the cache.
fetch_trees() {
	fetch_from "$trees_suite" 'the device trees of boards' "$trees_package:arm64"
	kernel=$(derived_apt apt-cache depends "$trees_package:arm64" |
		sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\)/\1/p' | head -n 1)
	apt download "$kernel" >log 2>&1 || die "$kernel cannot be fetched: $(tail -n 1 log)"
	mkdir new
	dpkg-deb --fsys-tarfile linux-image-[0-9]*.deb |
		tar -x -C new --strip-components=4 --wildcards './usr/lib/linux-image-*/*/*.dtb'
	rm -rf "$trees.$$"
	cp -r new "$trees.$$"
	mv -T "$trees.$$" "$trees"
}

# Print the folder of boards' device trees.  Fetch it first if need be.
print_trees() {
	trees=$cache/board-trees-6.12
	mkdir -p "$cache"
	exec 9>"$trees.lock"
	flock 9
	[ -d "$trees" ] || fetch_trees
	echo "$trees"
}

# Boot loaders, and the programs that make their media and sign for them, with libraries.  Nothing of them is installed.
loaders_packages="grub-common grub-pc-bin grub-efi-amd64-bin:amd64 grub-efi-arm64-bin:arm64 systemd-boot-efi:amd64
	systemd-boot-efi:arm64 refind:amd64 ipxe ipxe-qemu u-boot-qemu sbsigntool libefivar1 libefiboot1"
# Engines that run jobs on many machines, for tests of examples/fleet.  Installed ones would start daemons.
slurm_packages="slurmctld slurmd slurm-client slurm-wlm-basic-plugins libhwloc15"
labgrid_packages="python3-labgrid python3-serial python3-pexpect python3-ptyprocess python3-pytest python3-pluggy python3-py
	python3-iniconfig python3-packaging python3-attr python3-pyudev python3-requests python3-urllib3 python3-certifi
	python3-idna python3-charset-normalizer python3-chardet python3-jinja2 python3-markupsafe python3-xmodem python3-yaml
	python3-more-itertools python3-autobahn python3-txaio python3-hyperlink python3-colors"
# lava-server has the templates of devices; libguestfs0 and its libraries are there because the dispatcher imports them.
lava_packages="lava-dispatcher lava-dispatcher-host lava-common lava-server python3-configobj python3-guestfs python3-jinja2
	python3-magic python3-markupsafe python3-netifaces python3-pexpect python3-ptyprocess python3-pyudev python3-requests
	python3-urllib3 python3-certifi python3-idna python3-charset-normalizer python3-chardet python3-setproctitle python3-tz
	python3-voluptuous python3-yaml python3-six libguestfs0 libvirt0 libfuse2 libyajl2 libssh2-1 libssh-4 inetutils-telnet"
# A program of Linux that starts another kernel, with its libraries, and a shell.  Both architectures' are unpacked.
kexec_packages="kexec-tools busybox-static libc6 zlib1g libxenmisc4.17 libxencall1 libxendevicemodel1 libxenevtchn1
	libxenforeignmemory1 libxengnttab1 libxentoolcore1 libxentoollog1"
# The test suite of this source has the schemas of Jenkins.
junit_source=python-xmlrunner junit_files=junit-10.xsd

# UEFI firmware of a newer Debian, of which one kind enforces NX, for tests.
firmware_packages="ovmf qemu-efi-aarch64" firmware_suite=trixie

# A hypervisor of a newer Debian, which starts this kernel as a guest of its own, for a test.
xen_packages=xen-hypervisor-4.20-arm64:arm64 xen_suite=trixie

# Unpack the working folder's packages to a folder of the cache, or kexec's to a folder in it for each architecture.
unpack_to() { # FOLDER
	for deb in ./*.deb; do
		new=new
		case ${1##*/} in
		kexec-*) new=new/$(dpkg-deb -f "$deb" Architecture) ;;
		esac
		mkdir -p "$new"
		dpkg-deb -x "$deb" "$new"
	done
	rm -rf "$1.$$"
	cp -r new "$1.$$"
	mv -T "$1.$$" "$1"
}

# Unpack packages of this machine's Debian to a folder of the cache.
fetch_unpacked() { # FOLDER PACKAGES
	# shellcheck disable=SC2086 # a list of words
	set -- "$1" "$(printf '%s ' $2)"
	say "fetching $2"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	exit_on_signals
	cd "$work" || exit
	# shellcheck disable=SC2086 # a list of words
	{ apt-get -q -o APT::Sandbox::User=root download $2 || {
		root apt-get -q update && apt-get -q -o APT::Sandbox::User=root download $2
	}; } >log 2>&1 || {
		tail -n 3 log >&2
		absent "these packages cannot be fetched: $2: add Debian's component main, of amd64 and arm64, to apt's sources"
	}
	unpack_to "$1"
}

# Print the words that say what an option unpacks.
words_to_unpack() { # OPTION
	case $1 in
	--loaders) echo "$loaders_packages" ;;
	--slurm) echo "$slurm_packages" ;;
	--labgrid) echo "$labgrid_packages" ;;
	--lava) echo "$lava_packages" ;;
	--kexec) for p in $kexec_packages; do echo "$p:amd64 $p:arm64"; done ;;
	--junit) echo "$junit_source $junit_files" ;;
	--firmware) echo "$firmware_packages $firmware_suite" ;;
	--xen) echo "$xen_packages $xen_suite" ;;
	esac
}

# Print the folder of what an option unpacks.  Fetch it first if need be.  Its name ends with the hash of the words, so that
# another list of packages has another folder.
print_unpacked() { # OPTION
	words=$(words_to_unpack "$1")
	# shellcheck disable=SC2086 # a list of words
	folder=$cache/${1#--}-$(printf '%s ' $words | sha256sum | cut -c 1-16)
	mkdir -p "$cache"
	exec 9>"$cache/${1#--}.lock"
	flock 9
	if [ -d "$folder" ]; then
		:
	elif [ "$1" = --junit ]; then
		fetch_source "$folder" "$junit_source" "$junit_files" || exit 77
	elif [ "$1" = --firmware ]; then
		# shellcheck disable=SC2086 # a list of words
		fetch_from "$firmware_suite" 'the firmware' $firmware_packages
		unpack_to "$folder"
	elif [ "$1" = --xen ]; then
		fetch_from "$xen_suite" 'Xen' "$xen_packages"
		unpack_to "$folder"
	else
		fetch_unpacked "$folder" "$words"
	fi
	echo "$folder"
}
