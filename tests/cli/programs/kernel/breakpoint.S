/*
 * A UEFI driver for x86-64 that sets a breakpoint in the debug registers when
 * firmware exits.  The breakpoint is at the linear address BREAK_AT in every
 * context. tests/cli/boot/uefi.sh loads it.
 *
 * UEFI Specification, "EFI_BOOT_SERVICES.CreateEvent()"; Intel SDM vol. 3B,
 * "Debug Control Register (DR7)".
 */
#define BOOT_SERVICES 96 /* in EFI_SYSTEM_TABLE */
#define CREATE_EVENT  80 /* in EFI_BOOT_SERVICES */
#define EXIT_EVENT    0x201
#define TPL_CALLBACK  8
#define G0            0x402 /* global breakpoint 0, on execution */

	.text
	.globl	_start
_start:
	sub	$56, %rsp
	mov	BOOT_SERVICES(%rdx), %rax
	mov	$EXIT_EVENT, %ecx
	mov	$TPL_CALLBACK, %edx
	lea	leave(%rip), %r8
	xor	%r9d, %r9d
	lea	48(%rsp), %r10
	mov	%r10, 32(%rsp)
	call	*CREATE_EVENT(%rax)
	add	$56, %rsp
	ret

leave:
	mov	$BREAK_AT, %rax
	mov	%rax, %db0
	mov	$G0, %eax
	mov	%rax, %db7
	ret

	/* Firmware refuses a file without relocations: this has no effect. */
	.section .reloc, "a"
	.long	0, 10
	.word	0
