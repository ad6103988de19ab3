/*
 * Tests whether this KVM can be used: a PVH image that prints these lines on
 * the debug console (port 0xe9):
 *
 *     BOOT
 *     TICKS n		TSC ticks of LOOPS iterations of a two-instruction loop
 *     PMU n		0, or a version: of Intel's PMU; 2 for AMD's core counters
 *     COUNT n		retired instructions that a counter counted in the loop
 *     SSE
 *     END
 *
 * and ends QEMU with status 33.  Some hosts die at one of these steps, and the
 * last line shows at which.  Numbers are hexadecimal.
 *
 * Xen, "x86/HVM direct boot ABI" (entry state).  Intel SDM vol. 2A, "CPUID"
 * (0AH); vol. 4, "IA-32 Architectural MSRs" (0C1H, 186H, 38FH).  AMD APM
 * vol. 2, "Core Performance Counters" (C001_0200H, C001_0201H).
 */
#define LOOPS 10000

#define PVH_ENTRY 18 /* XEN_ELFNOTE_PHYS32_ENTRY */

#define IA32_PMC0             0x0c1
#define IA32_PERFEVTSEL0      0x186
#define IA32_PERF_GLOBAL_CTRL 0x38f
#define AMD_PERF_CTL0         0xc0010200
#define AMD_PERF_CTR0         0xc0010201
/* Retired instructions on both makers' parts: enabled, user and system. */
#define INST_RETIRED 0x4300c0

	.section .note.pvh, "a", @note
	.long 4, 4, PVH_ENTRY
	.asciz "Xen"
	.long start

	.text
	.code32
	.globl start
start:
	mov $stack_top, %esp
	mov $boot, %esi
	call puts

	rdtsc
	mov %eax, %edi
	call loop
	rdtsc
	sub %edi, %eax
	mov $ticks, %esi
	call puts_hex

	call pmu_version
	mov %eax, %ebp
	mov $pmu, %esi
	call puts_hex
	xor %eax, %eax
	cmp $2, %ebp
	jb 1f
	call count_loop
1:	mov $count, %esi
	call puts_hex

	/* SSE at system privilege: CR0.EM off, CR0.MP and CR4.OSFXSR on. */
	mov %cr0, %eax
	and $~4, %eax
	or $2, %eax
	mov %eax, %cr0
	mov %cr4, %eax
	or $0x600, %eax
	mov %eax, %cr4
	xorps %xmm0, %xmm0
	movaps %xmm0, %xmm1
	mov $sse, %esi
	call puts

	mov $end, %esi
	call puts
	mov $0x10, %al
	out %al, $0xf4
1:	hlt
	jmp 1b

loop:
	mov $LOOPS, %ecx
1:	dec %ecx
	jnz 1b
	ret

/* Set %eax to the PMU's version, as in the list above.  Changes all registers. */
pmu_version:
	xor %eax, %eax
	cpuid
	cmp $0x68747541, %ebx /* "Auth", AuthenticAMD */
	je 1f
	cmp $10, %eax
	mov $0, %eax
	jb 2f
	mov $10, %eax
	cpuid
	movzbl %al, %eax
	ret
1:	mov $0x80000001, %eax
	cpuid
	xor %eax, %eax
	bt $23, %ecx /* PerfCtrExtCore */
	jnc 2f
	mov $2, %eax
2:	ret

/* Set %eax to the instructions counted in the loop. */
count_loop:
	xor %eax, %eax
	cpuid
	mov $AMD_PERF_CTL0, %esi
	mov $AMD_PERF_CTR0, %edi
	cmp $0x68747541, %ebx
	je 1f
	mov $IA32_PERF_GLOBAL_CTRL, %ecx
	mov $1, %eax
	xor %edx, %edx
	wrmsr
	mov $IA32_PERFEVTSEL0, %esi
	mov $IA32_PMC0, %edi
1:	mov %edi, %ecx
	xor %eax, %eax
	xor %edx, %edx
	wrmsr
	mov %esi, %ecx
	mov $INST_RETIRED, %eax
	wrmsr
	call loop
	mov %esi, %ecx
	xor %eax, %eax
	xor %edx, %edx
	wrmsr
	mov %edi, %ecx
	rdmsr
	ret

/* Print the string at %esi. */
puts:
	lodsb
	test %al, %al
	jz 1f
	out %al, $0xe9
	jmp puts
1:	ret

/* Print the string at %esi, %eax in hexadecimal, and a newline. */
puts_hex:
	mov %eax, %ebx
	call puts
	mov $8, %ecx
1:	rol $4, %ebx
	mov %ebx, %eax
	and $15, %eax
	mov digits(%eax), %al
	out %al, $0xe9
	loop 1b
	mov $'\n', %al
	out %al, $0xe9
	ret

	.section .rodata
boot:	.asciz "BOOT\n"
ticks:	.asciz "TICKS "
pmu:	.asciz "PMU "
count:	.asciz "COUNT "
sse:	.asciz "SSE\n"
end:	.asciz "END\n"
digits:	.ascii "0123456789abcdef"

	.bss
	.skip 256
stack_top:
