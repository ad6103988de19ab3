/*
 * Reads and writes model-specific registers, at system privilege.
 *
 * An absent register causes #GP, as does a value that a register does not
 * take.  #GP is SIGSEGV here.  Intel SDM vol. 2B, "RDMSR"; vol. 2C, "WRMSR".
 */
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "payloads/nb/nb.h"

static sigjmp_buf refused;

static void
on_fault(int)
{
	siglongjmp(refused, 1);
}

/* Run one of the next two.  Returns false if it faults. */
static bool
try_msr(void (*access)(struct nb_msr *m), struct nb_msr *m)
{
	struct sigaction sa = { .sa_flags = SA_ONSTACK }, old;
	volatile bool done = false;

	sa.sa_handler = on_fault;
	sigaction(SIGSEGV, &sa, &old);
	if (sigsetjmp(refused, 1) == 0) {
		access(m);
		done = true;
	}
	sigaction(SIGSEGV, &old, NULL);
	return done;
}

static void
read_msr(struct nb_msr *m)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr"
			 : "=a"(low), "=d"(high)
			 : "c"(m->nbm_register));
	m->nbm_value = (uint64_t)high << 32 | low;
}

static void
write_msr(struct nb_msr *m)
{
	__asm__ volatile("wrmsr"
			 :
			 : "a"((uint32_t)m->nbm_value),
			 "d"((uint32_t)(m->nbm_value >> 32)),
			 "c"(m->nbm_register)
			 : "memory");
}

bool
nb_msr_read(struct nb_msr *m)
{
	return try_msr(read_msr, m);
}

bool
nb_msr_write(const struct nb_msr *m)
{
	struct nb_msr copy = *m;

	return try_msr(write_msr, &copy);
}
