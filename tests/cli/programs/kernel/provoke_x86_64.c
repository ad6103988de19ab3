/*
 * For provoke.c: the exceptions of an x86-64.  Each code raises one in the way
 * a kernel could.  Four are raised by INT.  Overflow, bound range and SIMD have
 * no instruction that raises them here: INTO and BOUND are undefined in 64-bit
 * mode, and TCG knows no SIMD exception.  QEMU sends an NMI by its monitor
 * only.  None of these four has an error code.  INT also delivers the overflow
 * interrupt while interrupts are off.
 * Intel SDM vol. 3A, "Exception and Interrupt Reference".
 */
#include "provoke.h"

#include <string.h>

#define CR0_WP         (1UL << 16)
#define GATE_PRESENT   0x80 /* in byte 5 of a gate */
#define GATE_BYTES     16
#define SEL_UDATA      0x18
#define SEGMENT_ABSENT 0x12 /* byte 5 of its descriptor: writable data */
#define VEC_SPARE      0x30
#define VEC_PF         14

#define CODES(C)                                                               \
	C(divide, NULL, "xor %ecx, %ecx; xor %edx, %edx; div %ecx")            \
	C(step, NULL, "pushf; orl $0x100, (%rsp); popf; nop")                  \
	C(nmi, NULL, "int $2")                                                 \
	C(breakpoint, NULL, "int3")                                            \
	C(overflow, NULL, "int $4")                                            \
	C(bound, NULL, "int $5")                                               \
	C(undefined, NULL, "ud1 %eax, %eax")                                   \
	C(no_fpu, NULL, "mov %cr0, %rax; or $8, %rax; mov %rax, %cr0; fninit") \
	C(double_fault, remove_page_fault, "xor %eax, %eax; mov (%rax), %eax") \
	C(not_present, remove_spare, "int $0x30")                              \
	C(stack, remove_segment, "mov $0x18, %eax; mov %eax, %ss")             \
	C(protection, NULL, "xor %eax, %eax; bts $63, %rax; mov (%rax), %rax") \
	C(page_absent, NULL, "xor %eax, %eax; mov (%rax), %eax")               \
	C(page_text, NULL, "1: mov %eax, 1b(%rip)")                            \
	C(page_data, NULL, "sub $64, %rsp; jmp *%rsp")                         \
	C(x87, NULL,                                                           \
	    "fninit; push $0x37b; fldcw (%rsp); fldz; fld1; fdivp; fwait")     \
	C(simd, NULL, "int $19")                                               \
	C(reserved, NULL, "int $27")                                           \
	C(uninvited, NULL, "int $0xe2")                                        \
	C(guard, NULL, "1: call 1b")                                           \
	C(nowhere, NULL, "xor %esp, %esp; push %rax")                          \
	C(loop, NULL, "1: pause; jmp 1b")
CODES(CODE)

struct __attribute__((packed)) table {
	uint16_t limit;
	uint64_t base;
};

/* Let this program write what is read-only.  Returns CR0 as it was. */
static uint64_t
lift_protection(void)
{
	uint64_t cr0;

	__asm__ volatile("cli; mov %%cr0, %0" : "=r"(cr0));
	__asm__ volatile("mov %0, %%cr0" : : "r"(cr0 & ~CR0_WP) : "memory");
	return cr0;
}

static void
restore_protection(uint64_t cr0)
{
	__asm__ volatile("mov %0, %%cr0; sti" : : "r"(cr0) : "memory");
}

void
poke(uintptr_t at, const char *code, uintptr_t bytes)
{
	uint64_t cr0 = lift_protection();

	memcpy((char *)at, code, bytes);
	restore_protection(cr0);
}

static void
remove_gate(unsigned vector)
{
	struct table idt;
	uint64_t cr0 = lift_protection();

	__asm__ volatile("sidt %0" : "=m"(idt));
	((volatile char *)idt.base)[vector * GATE_BYTES + 5] &=
	    (char)~GATE_PRESENT;
	restore_protection(cr0);
}

static void
remove_spare(void)
{
	remove_gate(VEC_SPARE);
}

/* The exception that a missing gate raises is one of two: a double fault. */
static void
remove_page_fault(void)
{
	remove_gate(VEC_PF);
}

/* The user's data segment becomes one of the kernel's that is not present. */
static void
remove_segment(void)
{
	struct table gdt;
	uint64_t cr0 = lift_protection();

	__asm__ volatile("sgdt %0" : "=m"(gdt));
	((volatile char *)gdt.base)[SEL_UDATA + 5] = SEGMENT_ABSENT;
	restore_protection(cr0);
}

void
interrupt_self(void)
{
	__asm__ volatile("int $2");
}

const struct code codes[] = { CODES(ENTRY) /* each ends with a comma */
	{ NULL, NULL, NULL, NULL } };
