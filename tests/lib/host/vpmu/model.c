/*
 * The model: five PICs of 48 bits, two general ones and Intel's three fixed
 * ones.  Two cycles pass in each instruction.  Now and then an interrupt adds
 * to the counts, as on a machine with noise.
 */
#include "tests/lib/host/vpmu/model_impl.h"

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include "payloads/vpmu/vpmu.h"
#include "payloads/vpmu/x86_64/msr.h"

enum defect vpmu_defect;

#define CPI  2 /* cycles for each instruction */
#define BOTH (CPC_COUNT_USER | CPC_COUNT_SYSTEM)
#define NCPU 2

cpc_set_t *model_bound;
bool model_stopped, model_frozen, model_again;
uint64_t model_tick;
static unsigned spins;
static void (*on_overflow)(int);

static bool
counts(const struct request *r, uint_t at)
{
	uint_t flags = r->flags & BOTH;

	if (vpmu_defect == IGNORES_USER && flags == CPC_COUNT_USER)
		flags = BOTH;
	if (vpmu_defect == IGNORES_SYSTEM && flags == CPC_COUNT_SYSTEM)
		flags = BOTH;
	if (vpmu_defect == ONE_STANDS && model_bound->n > 4 && r->pic == 1)
		return false;
	return (flags & at) != 0;
}

/* Other events of a loop than its instructions and branches. */
static uint64_t loads, misses;

/* Events of n instructions, some of them branches. */
static uint64_t
events(const struct request *r, uint64_t n, uint64_t branches)
{
	if (r->masked && vpmu_defect != IGNORES_CMASK)
		return 0;
	switch (r->event) {
	case INSNS:
		if (vpmu_defect == FIXED_INSNS_WRONG && r->pic == NGENERAL)
			return CPI * n;
		return vpmu_defect == OVERCOUNTS ? n + n / 1000 : n;
	case CYCLES:
		if (vpmu_defect == CYCLES_STAND)
			return 0;
		if (vpmu_defect == FIXED_FAST && r->pic == NGENERAL + 1)
			return 3 * CPI * n;
		return CPI * n;
	case REFERENCE:
		return vpmu_defect == REFERENCE_FAST ? 2 * CPI * n : CPI * n;
	case BRANCHES:
		return vpmu_defect == DOUBLES_BRANCHES ? 2 * branches
		                                       : branches;
	case LOADS:
		return vpmu_defect == LOADS_STAND ? 0 : loads;
	case MISSES:
		return vpmu_defect == FORESEES ? 0 : misses;
	case OTHER:
		return vpmu_defect == OTHER_JUMPS ? 1ULL << 47 : 0;
	}
	return 0;
}

static void
add_events(struct request *r, uint64_t n)
{
	const uint64_t half = 1ULL << 31;
	uint64_t before = r->value;

	if (vpmu_defect == COUNTS_TWICE && (r->flags & BOTH) == BOTH)
		n *= 2;
	r->value += n;
	if (vpmu_defect == JUMPS && (before & half) == 0 &&
	    (r->value & half) != 0)
		r->value += half;
}

/* Instructions until a notify request overflows, at most n. */
static uint64_t
until_overflow(uint64_t n, uint_t at, bool *overflows)
{
	const struct request *r = &model_bound->request[0];
	uint64_t rate = events(r, 1, 1), left, insns;

	*overflows = false;
	if ((r->flags & CPC_OVF_NOTIFY_EMT) == 0 || r->value >> 63 == 0 ||
	    !counts(r, at) || rate == 0)
		return n;
	left = -r->value;
	if (vpmu_defect == EARLY && left > 20)
		left -= 20;
	insns = (left + rate - 1) / rate;
	*overflows = insns <= n;
	return insns <= n ? insns : n;
}

static void
retire_some(uint64_t n, uint64_t branches, uint_t at)
{
	for (int i = 0; i < model_bound->n; i++) {
		struct request *r = &model_bound->request[i];
		bool runs = !model_stopped || vpmu_defect == RUNS_ON;

		if (model_frozen)
			runs = vpmu_defect == OTHERS_RUN_ON && i != 0;
		if (runs && counts(r, at))
			add_events(r, events(r, n, branches));
	}
}

static void
overflow(void)
{
	if (vpmu_defect == LOSES_INTERRUPT)
		return;
	model_frozen = true;
	model_again = vpmu_defect == INTERRUPTS_TWICE;
	on_overflow(SIGEMT);
}

/* n instructions retire at one privilege. */
void
model_retire(uint64_t n, uint64_t branches, uint_t at)
{
	bool overflows = false;

	model_tick += vpmu_defect == TICK_STANDS ? 0 : CPI * n;
	if (model_bound == NULL)
		return;
	if (model_again) {
		model_again = false;
		on_overflow(SIGEMT);
	}
	uint64_t first = model_stopped || model_frozen
	                     ? n
	                     : until_overflow(n, at, &overflows);
	retire_some(first, branches, at);
	if (overflows)
		overflow();
	if (first < n)
		retire_some(n - first, 0, at);
}

/* The model is of one CPU.  Another thread is on another CPU. */
pthread_t model_main_thread;
static uint64_t others; /* instructions that other CPUs retired */
static bool other_runs; /* a thread is bound to another CPU */

static bool
on_main_thread(void)
{
	return pthread_equal(pthread_self(), model_main_thread) != 0;
}

void
give_turn(void)
{
	sched_yield();
}

void
model_enter_kernel(uint64_t program, uint64_t kernel)
{
	model_retire(program, 3, CPC_COUNT_USER);
	model_retire(kernel, kernel / 10, CPC_COUNT_SYSTEM);
}

/* The instructions of the program. */
void
spin_loop(uint64_t iterations)
{
	if (!on_main_thread()) {
		__atomic_fetch_add(
		    &others, SPIN_INSNS * iterations, __ATOMIC_RELAXED);
		return;
	}
	if (vpmu_defect == COUNTS_OTHERS) {
		/* A busy host may not run the other thread for long. */
		while (__atomic_load_n(&other_runs, __ATOMIC_RELAXED) &&
		       __atomic_load_n(&others, __ATOMIC_RELAXED) == 0)
			sched_yield();
		model_retire(__atomic_exchange_n(&others, 0, __ATOMIC_RELAXED),
		    0, CPC_COUNT_USER);
	}
	if (++spins % 3 == 0)
		model_enter_kernel(1, 500); /* an interrupt */
	model_retire(SPIN_INSNS * iterations, iterations, CPC_COUNT_USER);
}

/* The loops of vpmu --events. */
static void
run_loop(
    uint64_t insns, uint64_t branches, uint64_t its_loads, uint64_t its_misses)
{
	loads = its_loads;
	misses = its_misses;
	model_retire(insns, branches, CPC_COUNT_USER);
	loads = misses = 0;
}

void load_loop(uint64_t n);
void
load_loop(uint64_t n)
{
	run_loop(3 * n, n, n, 0);
}

void store_loop(uint64_t n);
void
store_loop(uint64_t n)
{
	run_loop(3 * n, n, vpmu_defect == LOADS_ARE_STORES ? n : 0, 0);
}

void random_loop(uint64_t n);
void
random_loop(uint64_t n)
{
	run_loop(13 * n, 2 * n, 0, n / 2);
}

/* An interrupt comes in between. */
void chase_loop(uint64_t n);
void
chase_loop(uint64_t n)
{
	if (++spins % 3 == 0)
		model_enter_kernel(1, 500);
	run_loop(3 * n, n, n, 0);
}

void
trapped_loop(uint64_t iterations)
{
	if (vpmu_defect >= MEDIATED)
		model_tick += 3000 * iterations;
	model_retire((vpmu_defect == LOSES_TRAPPED ? 3 : 4) * iterations,
	    iterations, CPC_COUNT_USER);
}

uint64_t
arch_raw(unsigned index)
{
	unsigned width = vpmu_defect == NARROW ? 40 : WIDTH;

	for (int i = 0; i < model_bound->n; i++) {
		if (model_bound->request[i].pic == index)
			return model_bound->request[i].value &
			       ((1ULL << width) - 1);
	}
	return 0;
}

bool
read_works(uint32_t index, uint64_t *value)
{
	*value = 0;
	return index < NPIC || vpmu_defect == READS_ABSENT;
}

long __wrap_syscall(long number, ...);
long
__wrap_syscall(long number, ...)
{
	if (number == SYS_getppid || number == SYS_openat) {
		model_enter_kernel(30, number == SYS_openat ? 2000 : 100);
		return 0;
	}
	return -1;
}

/* Half of what was counted since the last sample. */
static void
lose_counts(void)
{
	struct request *r = &model_bound->request[0];

	r->value -= (r->value - r->sampled) / 2;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int
__wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	model_enter_kernel(20, 300);
	if (vpmu_defect == (model_bound->cpu ? CPU_HALT_LOSES : HALT_LOSES))
		lose_counts();
	return 0;
}

void (*__wrap_signal(int sig, void (*handler)(int)))(int);
void (*__wrap_signal(int sig, void (*handler)(int)))(int)
{
	if (sig == SIGEMT)
		on_overflow = handler;
	return SIG_DFL;
}

long __wrap_barecpc_sysconf(int name);
long
__wrap_barecpc_sysconf(int name)
{
	return NCPU;
}

int
p_online(processorid_t cpu, int state)
{
	return cpu < NCPU ? P_ONLINE : -1;
}

int
processor_bind(idtype_t type, id_t id, processorid_t cpu, processorid_t *was)
{
	static processorid_t on;

	__atomic_store_n(&other_runs, !on_main_thread(), __ATOMIC_RELAXED);
	if (!on_main_thread())
		return 0;
	model_enter_kernel(20, 400);
	if (vpmu_defect == MOVE_LOSES && cpu != on && model_bound != NULL)
		lose_counts();
	on = cpu;
	return 0;
}
