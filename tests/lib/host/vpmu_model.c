/*
 * The model: five PICs of 48 bits, two general ones and Intel's three fixed
 * ones.  Two cycles pass in each instruction.  Now and then an interrupt adds
 * to the counts, as on a machine with noise.
 */
#include "tests/lib/host/vpmu_model.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/results/json.h"
#include "payloads/vpmu/vpmu.h"
#include "payloads/vpmu/x86_64/msr.h"

enum defect vpmu_defect;

#define NPIC     5
#define NGENERAL 2
#define WIDTH    48
#define CPI      2 /* cycles for each instruction */
#define BOTH     (CPC_COUNT_USER | CPC_COUNT_SYSTEM)
#define NCPU     2
#define ANY_FREE NPIC
#define MOST     NPIC

enum event { INSNS, CYCLES, REFERENCE, BRANCHES, LOADS, MISSES, OTHER };

struct request {
	unsigned pic;
	enum event event;
	uint_t flags;
	uint64_t preset, value;
	uint64_t sampled; /* the value of the last sample */
	bool masked;      /* counts cycles with two events or more: none */
};

struct __cpc_set {
	struct request request[MOST];
	int n;
	bool cpu; /* bound to the CPU */
};

struct __cpc_buf {
	uint64_t value[MOST];
	uint64_t tick;
};

static cpc_set_t *bound;
static bool stopped, frozen, again;
static uint64_t tick;
static unsigned spins;
static void (*on_overflow)(int);

/* The tick is the TSC; the cpc_t is only a name. */
static char handle;

static bool
counts(const struct request *r, uint_t at)
{
	uint_t flags = r->flags & BOTH;

	if (vpmu_defect == IGNORES_USER && flags == CPC_COUNT_USER)
		flags = BOTH;
	if (vpmu_defect == IGNORES_SYSTEM && flags == CPC_COUNT_SYSTEM)
		flags = BOTH;
	if (vpmu_defect == ONE_STANDS && bound->n > 4 && r->pic == 1)
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
	const struct request *r = &bound->request[0];
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
	for (int i = 0; i < bound->n; i++) {
		struct request *r = &bound->request[i];
		bool runs = !stopped || vpmu_defect == RUNS_ON;

		if (frozen)
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
	frozen = true;
	again = vpmu_defect == INTERRUPTS_TWICE;
	on_overflow(SIGEMT);
}

/* n instructions retire at one privilege. */
static void
retire(uint64_t n, uint64_t branches, uint_t at)
{
	bool overflows = false;
	uint64_t first;

	tick += vpmu_defect == TICK_STANDS ? 0 : CPI * n;
	if (bound == NULL)
		return;
	if (again) {
		again = false;
		on_overflow(SIGEMT);
	}
	first = stopped || frozen ? n : until_overflow(n, at, &overflows);
	retire_some(first, branches, at);
	if (overflows)
		overflow();
	if (first < n)
		retire_some(n - first, 0, at);
}

/* The model is of one CPU.  Another thread is on another CPU. */
static pthread_t main_thread;
static uint64_t others; /* instructions that other CPUs retired */
static bool other_runs; /* a thread is bound to another CPU */

static bool
on_main_thread(void)
{
	return pthread_equal(pthread_self(), main_thread) != 0;
}

void
give_turn(void)
{
	sched_yield();
}

static void
enter_kernel(uint64_t program, uint64_t kernel)
{
	retire(program, 3, CPC_COUNT_USER);
	retire(kernel, kernel / 10, CPC_COUNT_SYSTEM);
}

/*
 * The instructions of the program.
 */
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
		retire(__atomic_exchange_n(&others, 0, __ATOMIC_RELAXED), 0,
		    CPC_COUNT_USER);
	}
	if (++spins % 3 == 0)
		enter_kernel(1, 500); /* an interrupt */
	retire(SPIN_INSNS * iterations, iterations, CPC_COUNT_USER);
}

/* The loops of vpmu --events. */
static void
run_loop(
    uint64_t insns, uint64_t branches, uint64_t its_loads, uint64_t its_misses)
{
	loads = its_loads;
	misses = its_misses;
	retire(insns, branches, CPC_COUNT_USER);
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
		enter_kernel(1, 500);
	run_loop(3 * n, n, n, 0);
}

void
trapped_loop(uint64_t iterations)
{
	if (vpmu_defect >= MEDIATED)
		tick += 3000 * iterations;
	retire((vpmu_defect == LOSES_TRAPPED ? 3 : 4) * iterations, iterations,
	    CPC_COUNT_USER);
}

uint64_t
arch_raw(unsigned index)
{
	unsigned width = vpmu_defect == NARROW ? 40 : WIDTH;

	for (int i = 0; i < bound->n; i++) {
		if (bound->request[i].pic == index)
			return bound->request[i].value & ((1ULL << width) - 1);
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
		enter_kernel(30, number == SYS_openat ? 2000 : 100);
		return 0;
	}
	return -1;
}

/* Half of what was counted since the last sample. */
static void
lose_counts(void)
{
	struct request *r = &bound->request[0];

	r->value -= (r->value - r->sampled) / 2;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int
__wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t;
	(void)left;
	enter_kernel(20, 300);
	if (vpmu_defect == (bound->cpu ? CPU_HALT_LOSES : HALT_LOSES))
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
	(void)name;
	return NCPU;
}

int
p_online(processorid_t cpu, int state)
{
	(void)state;
	return cpu < NCPU ? P_ONLINE : -1;
}

int
processor_bind(idtype_t type, id_t id, processorid_t cpu, processorid_t *was)
{
	static processorid_t on;

	(void)type;
	(void)id;
	(void)was;
	__atomic_store_n(&other_runs, !on_main_thread(), __ATOMIC_RELAXED);
	if (!on_main_thread())
		return 0;
	enter_kernel(20, 400);
	if (vpmu_defect == MOVE_LOSES && cpu != on && bound != NULL)
		lose_counts();
	on = cpu;
	return 0;
}

/*
 * libcpc.
 */
static const struct {
	const char *name;
	enum event event;
	unsigned pics;
} names[] = {
	{ "PAPI_tot_ins", INSNS, 0x7 },
	{ "PAPI_tot_cyc", CYCLES, 0xb },
	{ "reference", REFERENCE, 0x10 },
	{ "0xc0", INSNS, 0x7 },
	{ "0x3c", CYCLES, 0xb },
	{ "0x13c", REFERENCE, 0x3 },
	{ "0xc4", BRANCHES, 0x3 },
	{ "PAPI_br_ins", BRANCHES, 0x3 },
	{ "PAPI_ld_ins", LOADS, 0x3 },
	{ "PAPI_br_msp", MISSES, 0x3 },
	{ "other", OTHER, 0x3 },
};

cpc_set_t *
cpc_set_create(cpc_t *cpc)
{
	(void)cpc;
	return calloc(1, sizeof(struct __cpc_set));
}

int
cpc_set_destroy(cpc_t *cpc, cpc_set_t *set)
{
	(void)cpc;
	if (bound == set)
		bound = NULL;
	free(set);
	return 0;
}

static uint64_t
attribute(uint_t nattrs, const cpc_attr_t *attrs, const char *name,
    uint64_t otherwise)
{
	for (uint_t i = 0; i < nattrs; i++) {
		if (strcmp(attrs[i].ca_name, name) == 0)
			return attrs[i].ca_val;
	}
	return otherwise;
}

/* The CPU has all presets, and lacks the other names of rules. */
static bool unknown;

static bool
taken(const cpc_set_t *set, unsigned pic)
{
	for (int i = 0; i < set->n; i++) {
		if (set->request[i].pic == pic)
			return true;
	}
	return false;
}

static uint64_t
kept_preset(uint64_t preset)
{
	return vpmu_defect == CUTS_PRESET && preset >> 63 == 0
	           ? preset & ((1ULL << 40) - 1)
	           : preset;
}

int
cpc_set_add_request(cpc_t *cpc, cpc_set_t *set, const char *event,
    uint64_t preset, uint_t flags, uint_t nattrs, const cpc_attr_t *attrs)
{
	unsigned pic = (unsigned)attribute(nattrs, attrs, "picnum", ANY_FREE);
	unsigned i = 0;

	(void)cpc;
	unknown = strncmp(event, "PAPI_", 5) != 0;
	if (attribute(nattrs, attrs, "umask", 0) == 1)
		event = "0x13c";
	while (i < sizeof names / sizeof names[0] &&
	       strcmp(names[i].name, event) != 0)
		i++;
	if (i == sizeof names / sizeof names[0] || set->n == MOST ||
	    (vpmu_defect == REFUSES_BRANCHES && names[i].event == BRANCHES))
		return -1;
	if (pic == ANY_FREE) {
		for (pic = 0; pic < NGENERAL && taken(set, pic); pic++)
			;
		if (pic == NGENERAL)
			return -1;
	}
	if ((names[i].pics >> pic & 1) == 0 || taken(set, pic))
		return -1;
	set->request[set->n] = (struct request){ .pic = pic,
		.event = names[i].event,
		.flags = flags,
		.preset = preset,
		.masked = attribute(nattrs, attrs, "cmask", 0) > 1 };
	return set->n++;
}

static void
start(cpc_set_t *set)
{
	for (int i = 0; i < set->n; i++)
		set->request[i].value = kept_preset(set->request[i].preset);
	stopped = frozen = again = false;
}

int
cpc_bind_curlwp(cpc_t *cpc, cpc_set_t *set, uint_t flags)
{
	(void)cpc;
	(void)flags;
	bound = set;
	start(set);
	retire(40, 3, CPC_COUNT_USER);
	return 0;
}

int
cpc_bind_cpu(cpc_t *cpc, processorid_t id, cpc_set_t *set, uint_t flags)
{
	(void)id;
	set->cpu = true;
	return cpc_bind_curlwp(cpc, set, flags);
}

int
cpc_unbind(cpc_t *cpc, cpc_set_t *set)
{
	(void)cpc;
	(void)set;
	bound = NULL;
	return 0;
}

int
cpc_request_preset(cpc_t *cpc, int index, uint64_t preset)
{
	(void)cpc;
	bound->request[index].preset = preset;
	return 0;
}

int
cpc_set_restart(cpc_t *cpc, cpc_set_t *set)
{
	(void)cpc;
	start(set);
	retire(30, 3, CPC_COUNT_USER);
	return 0;
}

int
cpc_disable(cpc_t *cpc)
{
	(void)cpc;
	stopped = true;
	return 0;
}

int
cpc_enable(cpc_t *cpc)
{
	(void)cpc;
	stopped = false;
	return 0;
}

cpc_buf_t *
cpc_buf_create(cpc_t *cpc, cpc_set_t *set)
{
	(void)cpc;
	(void)set;
	return calloc(1, sizeof(struct __cpc_buf));
}

int
cpc_buf_destroy(cpc_t *cpc, cpc_buf_t *buf)
{
	(void)cpc;
	free(buf);
	return 0;
}

int
cpc_set_sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	(void)cpc;
	enter_kernel(25, 200);
	/* An iteration takes four ticks. */
	if (vpmu_defect == EMULATED || vpmu_defect == UNCLEAR)
		tick +=
		    (vpmu_defect == EMULATED ? 2000 : 800) * (uint64_t)set->n;
	for (int i = 0; i < set->n; i++)
		buf->value[i] = set->request[i].sampled = set->request[i].value;
	buf->tick = tick;
	return 0;
}

int
cpc_buf_get(cpc_t *cpc, cpc_buf_t *buf, int index, uint64_t *val)
{
	(void)cpc;
	*val = buf->value[index];
	return 0;
}

uint64_t
cpc_buf_tick(cpc_t *cpc, cpc_buf_t *buf)
{
	(void)cpc;
	return buf->tick;
}

hrtime_t
gethrtime(void)
{
	return (hrtime_t)tick;
}

int
cpc_request_info(cpc_t *cpc, cpc_set_t *set, int index, cpc_reqinfo_t *info)
{
	(void)cpc;
	info->ri_picnum = info->ri_index = set->request[index].pic;
	info->ri_width = WIDTH;
	info->ri_code = set->request[index].event;
	return 0;
}

uint_t
cpc_caps(cpc_t *cpc)
{
	(void)cpc;
	return CPC_CAP_OVERFLOW_INTERRUPT;
}

uint_t
cpc_npic(cpc_t *cpc)
{
	(void)cpc;
	return NPIC;
}

void
cpc_walk_events_pic(cpc_t *cpc, uint_t picno, void *arg,
    void (*action)(void *arg, uint_t picno, const char *event))
{
	(void)cpc;
	if (picno == 4)
		action(arg, picno, "reference");
}

void
cpc_walk_events_all(
    cpc_t *cpc, void *arg, void (*action)(void *arg, const char *event))
{
	(void)cpc;
	action(arg, "reference");
	action(arg, "other");
}

cpc_t *
cpc_open(int ver)
{
	(void)ver;
	main_thread = pthread_self();
	return (cpc_t *)&handle;
}

int
cpc_close(cpc_t *cpc)
{
	(void)cpc;
	return 0;
}

long
cpc_syscall(enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
	(void)b;
	(void)c;
	(void)d;
	if (op == CPC_OP_PMU)
		*(struct cpc_pmu *)a =
		    (struct cpc_pmu){ .pm_kind = CPC_PMU_INTEL,
			    .pm_general = 0x3,
			    .pm_own = { 0x4, 0x8, 0x10 },
			    .pm_attrs = 1U << CPC_ATTR_CMASK,
			    .pm_events = { 0x27 } };
	return 0;
}

/*
 * The rest of the program.
 */
void
cpc_error_keep(cpc_t *cpc)
{
	(void)cpc;
}

void
cpc_error_forget(void)
{
}

int
cpc_error_subcode(void)
{
	return unknown ? CPC_INVALID_EVENT : CPC_RESOURCE_UNAVAIL;
}

const char *
cpc_error_text(void)
{
	return "the model refuses it";
}

const char *
cpc_error_of_open(char *buf, size_t size)
{
	(void)size;
	return buf;
}

const char *
json_machine(void)
{
	static char text[400];
	size_t n = 0;

	for (unsigned pic = 0; pic < NPIC; pic++)
		n += (size_t)snprintf(text + n, sizeof text - n,
		    "{\"pic\":%u,\"width\":%u,\"unproved\":%s},", pic, WIDTH,
		    vpmu_defect == UNPROVED && pic == 1 ? "\"reads 0\""
							: "null");
	return text;
}

const struct vpmu_property register_properties[] = { { NULL, NULL, 0 } };
