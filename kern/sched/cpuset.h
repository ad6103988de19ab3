/*
 * Sets of CPUs.  Included by kern/ and tests/host.
 *
 * Loops stop at the words that hold CPUs of this machine, so up to 64 CPUs need
 * only one word.  A set may contain CPUs that the machine lacks, such as an
 * affinity of all ones.  So cpuset_meets() and cpuset_next() take two sets.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MAXCPU       512 /* CPUs the kernel uses; a multiple of 64 */
#define CPUSET_WORDS (MAXCPU / 64)

struct cpuset {
	uint64_t cs_word[CPUSET_WORDS]; /* bit n % 64 of word n / 64: CPU n */
};

extern unsigned ncpu; /* kern/sched/cpu.h */

static inline bool
cpuset_has(const struct cpuset *cs, unsigned id)
{
	return (cs->cs_word[id / 64] >> id % 64 & 1) != 0;
}

static inline void
cpuset_add(struct cpuset *cs, unsigned id)
{
	cs->cs_word[id / 64] |= 1ULL << id % 64;
}

static inline void
cpuset_remove(struct cpuset *cs, unsigned id)
{
	cs->cs_word[id / 64] &= ~(1ULL << id % 64);
}

/* Do a and b have a CPU in common? */
static inline bool
cpuset_meets(const struct cpuset *a, const struct cpuset *b)
{
	unsigned i = 0;

	do {
		if ((a->cs_word[i] & b->cs_word[i]) != 0)
			return true;
	} while (++i * 64 < ncpu);
	return false;
}

/*
 * The first CPU from `from` on that is in both sets, or MAXCPU.  To visit all,
 * call again with the next number.
 */
static inline unsigned
cpuset_next(const struct cpuset *a, const struct cpuset *b, unsigned from)
{
	uint64_t mask = ~0ULL << from % 64;

	for (unsigned i = from / 64; i * 64 < ncpu; i++, mask = ~0ULL) {
		uint64_t both = a->cs_word[i] & b->cs_word[i] & mask;

		if (both != 0)
			return i * 64 + (unsigned)__builtin_ctzll(both);
	}
	return MAXCPU;
}
