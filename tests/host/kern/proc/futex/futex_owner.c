/* A program that keeps changing a lock's word does not hold up the kernel. */
#include "tests/lib/host/support.h"

#include <stdbool.h>
#include <string.h>

/* The kernel's sched_yield() under its name in kernel_names.h. */
#define sched_yield kern_sched_yield

static bool program_is_faster(uint32_t *word);
#define __atomic_compare_exchange_n(word, was, now, weak, good, bad)           \
	((void)(was), (void)(now), program_is_faster(word))
#include "kern/proc/futex/futex_owner.c"
#undef __atomic_compare_exchange_n

#include "kern/platform/lock.h"

#define UVA     0x1000
#define ROBUST  0x2000
#define RESTART (-1000)
#define SELF    7
#define OTHER   8

/* More swaps than this: the loop has no bound. */
#define TOO_MANY 1000000

struct cpu cpus[MAXCPU];
struct spinlock klock;
struct proc *allprocs;

static struct as memory;
static struct proc proc = { .p_as = &memory };
static struct lwp self = { .l_tid = SELF, .l_proc = &proc };
static struct lwp other = { .l_tid = OTHER, .l_proc = &proc };
static struct futex_queue queue;
static uint32_t lock_word, first, second;
static unsigned swaps, sleeps;

/* The word changes from one value to the other. */
static bool
program_is_faster(uint32_t *word)
{
	assert_ptr_equal(word, &lock_word);
	if (++swaps > TOO_MANY)
		fail_msg("the kernel tries again and again");
	*word = *word == first ? second : first;
	return false;
}

struct cpu *
arch_curcpu(void)
{
	cpus[0].c_lwp = &self;
	return &cpus[0];
}

uint32_t *
as_word(struct as *as, uintptr_t va)
{
	assert_ptr_equal(as, proc.p_as);
	return va == UVA ? &lock_word : NULL;
}

struct lwp *
lwp_find(int tid)
{
	return tid == OTHER ? &other : tid == SELF ? &self : NULL;
}

struct futex_key
futex_key(uintptr_t uva, bool shared)
{
	return (struct futex_key){ &memory, uva };
}

struct futex_queue *
futex_queue(struct futex_key key)
{
	return &queue;
}

int
deadline_in(uintptr_t uva, bool absolute, uint64_t *deadline)
{
	*deadline = ~0ULL;
	return 0;
}

int
waitq_sleep(struct waitq *wq, uint64_t deadline)
{
	sleeps++;
	return 0;
}

bool
sig_check(struct lwp *l)
{
	return false;
}

intptr_t
sig_restart(struct lwp *l)
{
	assert_ptr_equal(l, &self);
	return RESTART;
}

void
sched_wake(struct lwp *l, int err)
{
	assert_null(l);
}

void
futex_wake_one(uintptr_t uva)
{
	fail_msg("%#lx: the lock was not released", (unsigned long)uva);
}

/* A list of one lock, whose word is 8 bytes after its entry. */
int
copyin(void *dst, uintptr_t uva, size_t len)
{
	const struct robust_head head = { UVA - 8, 8, 0 };
	const uintptr_t back = ROBUST;

	if (uva == ROBUST)
		memcpy(dst, &head, len);
	else
		memcpy(dst, &back, len);
	return 0;
}

static void
begin(uint32_t a, uint32_t b)
{
	lock_word = first = a;
	second = b;
	swaps = sleeps = 0;
}

/* The program gets its turn when the call starts again. */
static void
expect_restart(intptr_t result)
{
	assert_int_equal(result, RESTART);
	assert_int_equal(swaps, SWAPS_MAX);
	assert_int_equal(sleeps, 0);
}

TEST(a_free_lock_whose_word_changes)
{
	begin(0, OWNER_DIED);
	expect_restart(futex_lock_pi(UVA, 0, false));
	begin(0, OWNER_DIED);
	expect_restart(futex_trylock_pi(UVA));
}

TEST(a_held_lock_whose_word_changes)
{
	begin(OTHER, OTHER | OWNER_DIED);
	expect_restart(futex_lock_pi(UVA, 0, false));
	/* This call only looks. */
	begin(OTHER, OTHER | OWNER_DIED);
	assert_int_equal(futex_trylock_pi(UVA), -EAGAIN);
	assert_int_equal(swaps, 0);
}

TEST(a_robust_lock_whose_word_changes)
{
	begin(SELF, SELF | WAITERS);
	self.l_robust = ROBUST;
	futex_lwp_exit(&self);
	assert_int_equal(swaps, SWAPS_MAX);
}
