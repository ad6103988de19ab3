/*
 * The first page of the x86-64 bzImage.  It has the setup header of the Linux
 * boot protocol.  Code for the 16-bit entry follows.  scripts/build/mkefi puts the PE
 * header before it, because rEFInd looks for one only in the first 0x180 bytes.
 * The kernel comes after this page.  mkefi fills in what depends on sizes.
 *
 * The 16-bit entry is for loaders that use BIOS, such as QEMU's -kernel with
 * SeaBIOS.  It makes struct boot_params and goes to the 32-bit entry.  %ds is
 * the segment of this page, of which the loader gives 32 KiB.
 *
 * Linux, Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header",
 * "Running the Kernel", "32-bit Boot Protocol"; zero-page.rst.
 * ACPI, "System Address Map Interfaces" (INT 15H, E820H).
 */
#define PE_HEADER   0x40 /* scripts/build/mkefi: up to BP_HDR */
#define CODE        0x280
#define BP          0x2000 /* struct boot_params, in this segment */
#define BP_BYTES    0x1000
#define BP_E820_N   0x1e8
#define BP_HDR      0x1f1
#define BP_HDR_END  0x26c
#define BP_E820     0x2d0
#define E820_BYTES  20
#define E820_MAX    128
#define STACK       0x8000
#define SMAP        0x534d4150
#define SEL_BOOT_CS 0x10
#define SEL_BOOT_DS 0x18
#define A20_PORT    0x92 /* bit 1: A20 is on; bit 0 resets the CPU */

	.text
	.code16
page:
	.ascii	"MZ"
	.org	page + 0x3c
	.long	PE_HEADER

	.org	page + BP_HDR
	.byte	7			/* setup_sects: the rest of this page */
	.word	0			/* root_flags */
	.long	0			/* syssize: mkefi */
	.word	0			/* ram_size */
	.word	0xffff			/* vid_mode: normal */
	.word	0			/* root_dev */
	.word	0xaa55			/* boot_flag */
entry:	.byte	0xeb, BP_HDR_END - 0x202	/* jmp past the header */
	.ascii	"HdrS"
	.word	0x020f			/* version */
	.long	0			/* realmode_swtch */
	.word	0x1000			/* start_sys_seg */
	.word	name - entry		/* kernel_version, from 0x200 */
	.byte	0			/* type_of_loader */
	.byte	1			/* loadflags: LOADED_HIGH */
	.word	STACK			/* setup_move_size */
code32_start:
	.long	0x100000
	.long	0, 0			/* ramdisk_image, ramdisk_size */
	.long	0			/* bootsect_kludge */
	.word	0			/* heap_end_ptr */
	.byte	0, 0			/* ext_loader_ver, ext_loader_type */
	.long	0			/* cmd_line_ptr */
	.long	0x7fffffff		/* initrd_addr_max */
	.long	0x200000		/* kernel_alignment */
	.byte	1			/* relocatable_kernel */
	.byte	21			/* min_alignment */
	.word	0x23			/* xloadflags: 64-bit, above 4 GiB, five levels */
	.long	0xffff			/* cmdline_size */
	.long	0			/* hardware_subarch: PC */
	.quad	0			/* hardware_subarch_data */
	.long	0, 0			/* payload_offset, payload_length */
	.quad	0			/* setup_data */
	.quad	0x200000		/* pref_address */
	.long	0			/* init_size: mkefi */
	.long	0			/* handover_offset: none */
	.long	32			/* kernel_info_offset: linux_x86.S */
	.org	page + BP_HDR_END
	jmp	far_entry
name:	.asciz	"barecpc"

	.org	page + CODE
far_entry:
	push	%ds
	push	$start
	lretw
start:
	cld
	mov	%ds, %ax
	mov	%ax, %es
	mov	%ax, %ss
	mov	$STACK, %sp
	sti
	mov	$BP, %di
	mov	$BP_BYTES / 4, %cx
	xor	%eax, %eax
	rep stosl
	mov	$BP_HDR, %si
	mov	$BP + BP_HDR, %di
	mov	$BP_HDR_END - BP_HDR, %cx
	rep movsb

	mov	$BP + BP_E820, %di
	xor	%ebx, %ebx
1:	mov	$0xe820, %eax
	mov	$E820_BYTES, %ecx
	mov	$SMAP, %edx
	int	$0x15
	jc	2f
	cmp	$SMAP, %eax
	jne	2f
	add	$E820_BYTES, %di
	incb	BP + BP_E820_N
	cmpb	$E820_MAX, BP + BP_E820_N
	je	2f
	test	%ebx, %ebx
	jnz	1b

2:	mov	$0x2401, %ax		/* BIOS: A20 on */
	int	$0x15
	in	$A20_PORT, %al
	test	$2, %al
	jnz	3f
	or	$2, %al
	and	$0xfe, %al
	out	%al, $A20_PORT

3:	cli
	xor	%eax, %eax
	mov	%ds, %ax
	shl	$4, %eax
	lea	BP(%eax), %esi
	add	%eax, gdtr + 2
	add	%eax, far_jump
	lgdtl	gdtr
	mov	code32_start, %ecx
	mov	%cr0, %eax
	or	$1, %al
	mov	%eax, %cr0
	.byte	0x66, 0xea		/* ljmpl */
far_jump:
	.long	protected
	.word	SEL_BOOT_CS

	.code32
protected:
	mov	$SEL_BOOT_DS, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %fs
	mov	%eax, %gs
	mov	%eax, %ss
	xor	%ebx, %ebx
	xor	%edi, %edi
	xor	%ebp, %ebp
	jmp	*%ecx

	.balign	8
gdt:	.quad	0, 0
	.quad	0x00cf9b000000ffff	/* SEL_BOOT_CS */
	.quad	0x00cf93000000ffff	/* SEL_BOOT_DS */
gdtr:	.word	. - gdt - 1
	.long	gdt
	.org	page + 0x1000

	.section .note.GNU-stack, "", @progbits
