# Images for planted_faults.py: what all have, and after each line "#: NAME" an image.  They send numbers of 8 bytes.
.intel_syntax noprefix
.globl main, ap_main, fault_report, pmi_by_nmi, pmi_by_vector, timer_tick
.macro RD msr
	mov ecx, \msr
	rdmsr
	shl rdx, 32
	or rax, rdx
.endm
.macro WR msr, value
	mov ecx, \msr
	mov rax, \value
	mov rdx, rax
	shr rdx, 32
	wrmsr
.endm
send:
	mov dx, 0x3f8
	mov r8d, 8
1:
	out dx, al
	shr rax, 8
	dec r8d
	jnz 1b
	ret

pmi_by_nmi:
	WR 0x309, 0xffffffffffe9
	WR 0x390, (1 << 32)
	mov eax, 0xfee00340
	mov dword ptr [rax], 0x400
	ret
end: fault_report: pmi_by_vector: timer_tick:
	mov eax, 16
	mov dx, 0xf4
	out dx, eax
1:
	jmp 1b

#: caches
# EBX and ECX of each subleaf of the caches' leaf
main:
	mov r12d, LEAF
	xor r13d, r13d
2:
	mov eax, r12d
	mov ecx, r13d
	cpuid
	mov rax, rcx
	shl rax, 32
	or rax, rbx
	call send
	inc r13d
	cmp r13d, 4
	jne 2b
ap_main:
	jmp end

#: pmu
# The bits that the event of micro-ops obeys, and its count with a threshold.  Then a counter that freezes
# 100 instructions after it is set, three times, and the prefetchers' bits
main:
	xor r12d, r12d
2:
	mov eax, 0x40000101
	mov ecx, r12d
	inc r12d
	cpuid
	cmp eax, 0x10e
	jne 2b
	mov eax, ecx
	call send
	WR 0x186, 0x0143010e
	WR 0x38f, 1
.rept 100
	nop
.endr
	RD 0xc1
	call send
	WR 0x1d9, 0x1000
	WR 0x38d, 9
	mov r12d, 3
3:
	WR 0x309, 0xffffffffff9c
	WR 0x38f, (1 << 32)
	mov ecx, 1000
4:
	dec ecx
	jnz 4b
	RD 0x309
	call send
	WR 0x38f, 0
	WR 0x390, (1 << 59 | 1 << 32)
	dec r12d
	jnz 3b
	WR 0x1a4, 5
	RD 0x1a4
	call send
ap_main:
	jmp end

#: branches
# A non-maskable interrupt at each 23rd instruction, between branches that are not taken
main:
	lea rax, [rip + nmi_entry]
	lea rdi, [rip + idt + 32]
	mov [rdi], ax
	mov word ptr [rdi + 2], 0x18
	mov byte ptr [rdi + 5], 0x8e
	shr rax, 16
	mov [rdi + 6], ax
	lidt [rip + idtr]
	mov eax, 0xfee00340
	mov dword ptr [rax], 0x400
	WR 0x38d, 9
	WR 0x309, 0xffffffffffe9
	WR 0x38f, (1 << 32)
	mov ecx, 2000
	or eax, 1
1:
.rept 8
	jz end
.endr
	dec ecx
	jnz 1b
	WR 0x38f, 0
ap_main:
	jmp end
.bss
.balign 16
idt:
	.zero 512
.data
idtr:
	.word 511
.quad idt

#: time
# Cycles, reference cycles, TSC and SMIs of a loop
main:
	RD 0x34
	mov r13, rax
	WR 0x38d, 0x330
	WR 0x38f, (6 << 32)
	rdtsc
	shl rdx, 32
	lea r12, [rax + rdx]
	mov ecx, 100000
2:
	dec ecx
	jnz 2b
	rdtsc
	shl rdx, 32
	or rax, rdx
	sub rax, r12
	mov r12, rax
	WR 0x38f, 0
	RD 0x30a
	call send
	RD 0x30b
	call send
	mov rax, r12
	call send
	RD 0x34
	sub rax, r13
	call send
ap_main:
	jmp end

#: shared
# OFFCORE_RSP_0 of the second CPU, which the first one writes, and its TSC
main:
	mov esi, offset ap_start
	mov edi, 0x8000
	mov ecx, offset ap_end
	sub ecx, esi
	rep movsb
	mov eax, 0xfee00300
	mov dword ptr [rax], 0xc4500
	mov ecx, 100000
2:
	dec ecx
	jnz 2b
	mov dword ptr [rax], 0xc4608
3:
	WR 0x1a6, 3
	jmp 3b
ap_main:
	mov r12d, 100000
4:
	RD 0x1a6
	test eax, eax
	jnz 5f
	dec r12d
	jnz 4b
5:
	call send
	rdtsc
	shl rdx, 32
	or rax, rdx
	call send
	jmp end

#: aliases
# A branch at two virtual addresses: the second GiB maps the page of 2 MiB where the image is, too
main:
	mov rax, cr3
	mov rax, [rax]
	and rax, -4096
	mov rax, [rax + 8]
	and rax, -4096
	mov qword ptr [rax + 8], 0x200087
	mov rax, cr3
	mov cr3, rax
	lea rbx, [rip + branch]
	call rbx
	add rbx, 0x40000000
	call rbx
ap_main:
	jmp end
branch:
	cmp eax, eax
	jz 1f
	.skip 200, 0x90
1:
	ret
