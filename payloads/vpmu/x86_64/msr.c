/*
 * CPUID; RDMSR, WRMSR and RDPMC, which may fault.
 * Intel SDM vol. 2B, "RDMSR", "RDPMC", "WRMSR".
 */
#include "payloads/vpmu/x86_64/msr.h"

#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>

#include "payloads/vpmu/vpmu.h"

static sigjmp_buf after_fault;

static void
leave_fault(int sig)
{
	siglongjmp(after_fault, sig);
}

struct cpuid_result
read_cpuid(uint32_t leaf)
{
	struct cpuid_result r = { 0 };

	__get_cpuid(leaf, &r.a, &r.b, &r.c, &r.d);
	return r;
}

uint64_t
read_msr(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}

void
write_msr(uint32_t msr, uint64_t v)
{
	__asm__ volatile(
	    "wrmsr"
	    :
	    : "c"(msr), "a"((uint32_t)v), "d"((uint32_t)(v >> 32)));
}

bool
write_works(uint32_t msr, uint64_t v)
{
	bool works = sigsetjmp(after_fault, 1) == 0;

	signal(SIGSEGV, leave_fault);
	if (works)
		write_msr(msr, v);
	signal(SIGSEGV, SIG_DFL);
	return works;
}

uint64_t
arch_raw(unsigned index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}

bool
read_works(uint32_t index, uint64_t *value)
{
	bool works = sigsetjmp(after_fault, 1) == 0;

	signal(SIGSEGV, leave_fault);
	if (works)
		*value = arch_raw(index);
	signal(SIGSEGV, SIG_DFL);
	return works;
}
