#!/bin/sh
# Features of UEFI boots: load options, a disk that boots both architectures, barecpc.cfg, and ResetSystem.
# ResetSystem ends a machine that cannot be turned off in another way.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/cli/lib/tap.sh

# boot ARCH options...: the console goes to stderr.  The guest has no channel for a status, so QEMU ends with 0.
boot() {
	case $1 in
	arm64)
		shift
		set -- qemu-system-aarch64 -M virt,gic-version=3 -bios /usr/share/qemu-efi-aarch64/QEMU_EFI.fd \
			-boot menu=on,splash-time=0 "$@"
		;;
	x86_64)
		shift
		set -- qemu-system-x86_64 -M q35 -bios /usr/share/ovmf/OVMF.fd "$@"
		;;
	esac
	timeout -k 2 300 "$@" -accel tcg -cpu max -m 256 -display none -nodefaults -serial stdio -no-reboot \
		</dev/null >"$tap_dir/line"
	boot_status=$?
	tr -d '\r' <"$tap_dir/line" | sed "s/$(printf '\033')[^A-Za-z]*[A-Za-z]//g" >&2
	return $boot_status
}

# stick ARCH IMAGE: boot from the disk as a USB stick.
stick() {
	boot "$1" -drive "if=none,id=d,format=raw,file=$2" -device qemu-xhci -device usb-storage,drive=d
}

# volume ARCH IMAGE: boot from it as a disk.
volume() {
	boot "$1" -drive "if=none,id=d,format=raw,file=$2" -device virtio-blk-pci,drive=d
}

# blocks ARCH IMAGE: boot from it as a disk of 4,096-byte blocks.
blocks() {
	boot "$1" -drive "if=none,id=d,format=raw,file=$2" \
		-device nvme,serial=1,drive=d,logical_block_size=4096,physical_block_size=4096
}

# said NAME PATTERN: the last run printed a matching line.
said() {
	check "$1" grep -qE -e "$2" "$err"
}

[ "${BARECPC_BUILD-}" = no ] || make -s all >&2 || exit 1
printf '# what to run\n--\n\nspin\n' >"$tap_dir/cfg"
scripts/mkdisk --cfg "$tap_dir/cfg" "$tap_dir/both.img"
sleep 2 # longer than the resolution of FAT's clock
scripts/mkdisk --cfg "$tap_dir/cfg" "$tap_dir/again.img"
check 'the same files give the same disk' cmp "$tap_dir/both.img" "$tap_dir/again.img"
PATH=$PATH:/usr/sbin
check 'its partition table is right' sh -c "sgdisk -v '$tap_dir/both.img' | grep 'No problems found'"
check 'so is that for blocks of 4,096 bytes' sh -c "printf 'v\nq\n' | fdisk -b 4096 '$tap_dir/both.img' | grep 'No errors detected'"
scripts/mkdisk --fat "$tap_dir/plain.img"
head -c 5000 /dev/zero >"$tap_dir/BOOTX64.EFI"
expect 'a disk without an application is refused' 1 '^mkdisk: .*BOOTX64.EFI: not a UEFI application' \
	scripts/mkdisk --efi "$tap_dir/BOOTX64.EFI" "$tap_dir/none.img"

for arch in arm64 x86_64; do
	efi=build/$arch/$([ $arch = arm64 ] && echo BOOTAA64 || echo BOOTX64).EFI
	expect "$arch: load options" 0 '^barecpc: nonesuch: ' boot $arch -kernel "$efi" -append '-- nonesuch'
	said "$arch: the run ends and powers off" '^barecpc: exit 125$'
	expect "$arch: a stick with barecpc.cfg" 0 '^spin' stick $arch "$tap_dir/both.img"
	said "$arch: it runs spin and ends" '^barecpc: exit (0|77)$'
	expect "$arch: a disk of 4,096-byte blocks" 0 '^spin' blocks $arch "$tap_dir/both.img"
	said "$arch: it runs spin and ends, too" '^barecpc: exit (0|77)$'
	expect "$arch: a disk without barecpc.cfg" 0 '^spin' volume $arch "$tap_dir/plain.img"
	said "$arch: the whole suite runs" '^chase'
done

# Load options of another system.  A shell runs the application with them, from a volume with barecpc.cfg.
# shell ARCH OPTIONS: boot the volume, and start the application with these options.
shell() {
	cp "$tap_dir/plain.img" "$tap_dir/shell.img"
	app=$([ "$1" = arm64 ] && echo BOOTAA64.EFI || echo BOOTX64.EFI)
	printf 'fs0:\r\n%s %s\r\n' "$app" "$2" >"$tap_dir/startup.nsh"
	MTOOLS_SKIP_CHECK=1 mcopy -i "$tap_dir/shell.img" "build/$1/$app" "$tap_dir/startup.nsh" "$tap_dir/barecpc.cfg" ::
	MTOOLS_SKIP_CHECK=1 mcopy -i "$tap_dir/shell.img" "$tap_dir/more.cpio" ::/EFI/more.cpio
	MTOOLS_SKIP_CHECK=1 mdel -i "$tap_dir/shell.img" "::/EFI/BOOT/$app"
	volume "$1" "$tap_dir/shell.img"
}

scripts/barecpc-cc --arch x86_64 -O2 -o "$tap_dir/hello" tests/cli/programs/hello.c
scripts/mkcpio -o "$tap_dir/more.cpio" "$tap_dir/hello"
cp "$tap_dir/cfg" "$tap_dir/barecpc.cfg"
expect "x86_64: bootargs of another system do not override barecpc.cfg" 0 '^spin' \
	shell x86_64 'root=/dev/sdb3 console=ttyS2,1500000'
said 'x86_64: they are reported' '^barecpc: barecpc.cfg is used: .*: root=/dev/sdb3 console=ttyS2,1500000'
expect 'x86_64: options with a known word are used, with the archive of initrd=' 0 '^\[hello\]' \
	shell x86_64 'ro output=text -- hello initrd=\EFI\more.cpio'
said 'x86_64: without the other words' '^barecpc: command line: ignored words of another system: ro: '
expect 'x86_64: an archive that does not exist' 0 '^barecpc: initrd=.none.cpio: no such file on the volume' \
	shell x86_64 'initrd=\none.cpio'

# The kernel clears a breakpoint that firmware left at an address that every run executes.
at=$(nm build/x86_64/kernel.elf | awk '$3 == "launch" { print "0x" $1 }')
x86_64-linux-gnu-gcc -nostdlib -shared -Wl,-e,_start -Wl,--build-id=none -DBREAK_AT="$at" \
	-o "$tap_dir/breakpoint.so" tests/cli/programs/kernel/breakpoint.S
x86_64-linux-gnu-objcopy -j .text -j .reloc --target efi-bsdrv-x86_64 --subsystem=11 \
	"$tap_dir/breakpoint.so" "$tap_dir/breakpoint.efi"
truncate -s 8K "$tap_dir/breakpoint.efi" # QEMU looks for Linux's header
expect 'x86_64: a breakpoint of firmware' 0 '^spin' boot x86_64 -kernel "$tap_dir/breakpoint.efi" \
	-drive "if=none,id=d,format=raw,file=$tap_dir/both.img" -device virtio-blk-pci,drive=d
said 'x86_64: it does not end the run' '^barecpc: exit (0|77)$'
end
