/* A bare-metal test's serial port, TAP, MSRs, interrupt gates, local APIC. */
#include "guest.h"

#define COM1       0x3f8
#define DEBUG_EXIT 0xf4

struct gate {
	uint16_t lo, selector, attributes, mid;
	uint32_t hi, zero;
};

static struct gate idt[256];
static unsigned ntests, nfailed;

extern char fault_table[];
void fault_report(uint64_t vector, uint64_t top, uint64_t next);

void
outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

void
put(const char *s)
{
	while (*s != '\0')
		outb(COM1, (uint8_t)*s++);
}

static void
put_digits(uint64_t n, unsigned base)
{
	char buf[24], *p = &buf[sizeof(buf) - 1];

	*p = '\0';
	do {
		*--p = "0123456789abcdef"[n % base];
	} while ((n /= base) != 0);
	put(p);
}

void
put_number(uint64_t n)
{
	put_digits(n, 10);
}

void
put_hex(uint64_t n)
{
	put("0x");
	put_digits(n, 16);
}

void
check(const char *name, uint64_t got, uint64_t want)
{
	put(got == want ? "ok " : "not ok ");
	put_number(++ntests);
	put(" - ");
	put(name);
	put("\n");
	if (got == want)
		return;
	nfailed++;
	put("# expected ");
	put_number(want);
	put(" (");
	put_hex(want);
	put("), got ");
	put_number(got);
	put(" (");
	put_hex(got);
	put(")\n");
}

void
skip(const char *name, const char *why)
{
	put("ok ");
	put_number(++ntests);
	put(" - ");
	put(name);
	put(" # SKIP ");
	put(why);
	put("\n");
}

void
finish(void)
{
	put("1..");
	put_number(ntests);
	put("\n");
	outb(DEBUG_EXIT, nfailed == 0 ? 0x10 : 0x11);
	for (;;)
		__asm__ volatile("hlt");
}

/* Returns the value of `name=NUMBER' on the command line in *value. */
bool
word(const char *cmdline, const char *name, uint64_t *value)
{
	for (const char *p = cmdline; *p != '\0'; p++) {
		const char *q = p, *n = name;

		while (*n != '\0' && *q == *n) {
			q++;
			n++;
		}
		if (*n != '\0' || *q != '=' || (p != cmdline && p[-1] != ' '))
			continue;
		*value = 0;
		for (q++; *q >= '0' && *q <= '9'; q++)
			*value = *value * 10 + (uint64_t)(*q - '0');
		return true;
	}
	return false;
}

uint32_t
cpuid_subleaf(uint32_t leaf, uint32_t n, uint32_t *b, uint32_t *c, uint32_t *d)
{
	uint32_t a;

	__asm__ volatile("cpuid"
			 : "=a"(a), "=b"(*b), "=c"(*c), "=d"(*d)
			 : "a"(leaf), "c"(n));
	return a;
}

uint32_t
cpuid(uint32_t leaf, uint32_t *b, uint32_t *c, uint32_t *d)
{
	return cpuid_subleaf(leaf, 0, b, c, d);
}

uint64_t
rdmsr(uint32_t msr)
{
	uint32_t lo, hi;

	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr));
	return (uint64_t)hi << 32 | lo;
}

void
wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile(
	    "wrmsr"
	    :
	    : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32))
	    : "memory");
}

/* Each is two bytes long.  See start.S for R10 and R11. */
#define FAULTS(insn, ecx, value)                                               \
	({                                                                     \
		register uint64_t length __asm__("r10") = 2;                   \
		register uint64_t faulted __asm__("r11") = 0;                  \
		uint32_t lo = (uint32_t)(value);                               \
		uint32_t hi = (uint32_t)((uint64_t)(value) >> 32);             \
		__asm__ volatile(insn                                          \
				 : "+a"(lo), "+d"(hi), "+r"(faulted)           \
				 : "c"(ecx), "r"(length)                       \
				 : "memory");                                  \
		faulted != 0;                                                  \
	})

bool
rdmsr_faults(uint32_t msr)
{
	return FAULTS("rdmsr", msr, 0);
}

bool
wrmsr_faults(uint32_t msr, uint64_t value)
{
	return FAULTS("wrmsr", msr, value);
}

bool
rdpmc_faults(uint32_t index)
{
	return FAULTS("rdpmc", index, 0);
}

void
gate(unsigned vector, void (*entry)(void), unsigned dpl)
{
	uint64_t address = (uint64_t)entry;

	idt[vector] = (struct gate){
		.lo = (uint16_t)address,
		.selector = 0x18,
		.attributes = (uint16_t)(0x8e00 | dpl << 13),
		.mid = (uint16_t)(address >> 16),
		.hi = (uint32_t)(address >> 32),
	};
}

void
load_idt(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) p = { sizeof(idt) - 1, (uint64_t)idt };

	if (idt[0].selector == 0) {
		for (unsigned i = 0; i < 32; i++)
			gate(i,
			    (void (*)(void))(uint64_t)(fault_table + 16 * i),
			    0);
		gate(0, skip_fault, 0);
		gate(2, nmi_entry, 0);
		gate(6, skip_fault, 0);
		gate(13, skip_fault_code, 0);
		gate(14, skip_fault_code, 0);
		gate(VECTOR_PMI, pmi_entry, 0);
		gate(VECTOR_TIMER, timer_entry, 0);
		gate(0x80, user_return, 3);
		gate(0x81, user_rdpmc_return, 3);
	}
	__asm__ volatile("lidt %0" : : "m"(p));
}

/* An unexpected fault ends the run. */
void
fault_report(uint64_t vector, uint64_t top, uint64_t next)
{
	put("Bail out! vector ");
	put_number(vector);
	put(", stack ");
	put_hex(top);
	put(" ");
	put_hex(next);
	put("\n");
	nfailed++;
	finish();
}

uint32_t
lapic_read(unsigned reg)
{
	return *(volatile uint32_t *)(0xfee00000ull + reg);
}

void
lapic_write(unsigned reg, uint32_t value)
{
	*(volatile uint32_t *)(0xfee00000ull + reg) = value;
}
