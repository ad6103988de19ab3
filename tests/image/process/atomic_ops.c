/*
 * Each function of <atomic.h> has the prototype of its manual page, and does
 * and returns what that page says.
 *
 * Solaris and illumos, atomic_ops(3C): atomic_add(3C), atomic_and(3C),
 * atomic_bits(3C), atomic_cas(3C), atomic_dec(3C), atomic_inc(3C),
 * atomic_or(3C), atomic_swap(3C); membar_ops(3C).
 */
#include "tests/lib/image/test.h"

#include <atomic.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#define NEXT 0x5a /* what stands before and after the variable */

/* add: names of atomic_add(3C); name: of all others, of the pages' types. */
#define TEST_OPS(add, name, type, delta)                                       \
	TEST(operations_on_##name)                                             \
	{                                                                      \
		void (*const vadd)(volatile type *, delta) = atomic_add_##add; \
		void (*const vinc)(volatile type *) = atomic_inc_##name;       \
		void (*const vdec)(volatile type *) = atomic_dec_##name;       \
		void (*const vor)(volatile type *, type) = atomic_or_##name;   \
		void (*const vand)(volatile type *, type) = atomic_and_##name; \
		type (*const add_nv)(volatile type *, delta) =                 \
		    atomic_add_##add##_nv;                                     \
		type (*const inc_nv)(volatile type *) =                        \
		    atomic_inc_##name##_nv;                                    \
		type (*const dec_nv)(volatile type *) =                        \
		    atomic_dec_##name##_nv;                                    \
		type (*const or_nv)(volatile type *, type) =                   \
		    atomic_or_##name##_nv;                                     \
		type (*const and_nv)(volatile type *, type) =                  \
		    atomic_and_##name##_nv;                                    \
		type (*const swap)(volatile type *, type) =                    \
		    atomic_swap_##name;                                        \
		type (*const cas)(volatile type *, type, type) =               \
		    atomic_cas_##name;                                         \
		const type top = (type)(~(type)0 - ((type) ~(type)0 >> 1));    \
		volatile type v[3] = { NEXT, (type)-1, NEXT };                 \
                                                                               \
		/* A sum wraps, and a delta may be negative. */                \
		vadd(&v[1], 3);                                                \
		EXPECT_EQ(v[1], 2);                                            \
		EXPECT_EQ(add_nv(&v[1], -3), (type)-1);                        \
		vinc(&v[1]);                                                   \
		EXPECT_EQ(v[1], 0);                                            \
		EXPECT_EQ(inc_nv(&v[1]), 1);                                   \
		vdec(&v[1]);                                                   \
		EXPECT_EQ(v[1], 0);                                            \
		EXPECT_EQ(dec_nv(&v[1]), (type)-1);                            \
		vand(&v[1], (type)(top | 0x3c));                               \
		EXPECT_EQ(v[1], (type)(top | 0x3c));                           \
		EXPECT_EQ(and_nv(&v[1], 0x7e), 0x3c);                          \
		vor(&v[1], top);                                               \
		EXPECT_EQ(v[1], (type)(top | 0x3c));                           \
		EXPECT_EQ(or_nv(&v[1], 3), (type)(top | 0x3f));                \
		EXPECT_EQ(swap(&v[1], 7), (type)(top | 0x3f));                 \
		EXPECT_EQ(v[1], 7);                                            \
		/* The old value, whether or not it was replaced. */           \
		EXPECT_EQ(cas(&v[1], 6, top), 7);                              \
		EXPECT_EQ(v[1], 7);                                            \
		EXPECT_EQ(cas(&v[1], 7, top), 7);                              \
		EXPECT_EQ(v[1], top);                                          \
		EXPECT(v[0] == NEXT && v[2] == NEXT);                          \
	}

TEST_OPS(8, 8, uint8_t, int8_t)
TEST_OPS(char, uchar, uchar_t, signed char)
TEST_OPS(16, 16, uint16_t, int16_t)
TEST_OPS(short, ushort, ushort_t, short)
TEST_OPS(32, 32, uint32_t, int32_t)
TEST_OPS(int, uint, uint_t, int)
TEST_OPS(long, ulong, ulong_t, long)
TEST_OPS(64, 64, uint64_t, int64_t)

/* The target is a pointer, and moves by bytes. */
TEST(operations_on_a_pointer)
{
	void (*const vadd)(volatile void *, ssize_t) = atomic_add_ptr;
	void (*const vinc)(volatile void *) = atomic_inc_ptr;
	void (*const vdec)(volatile void *) = atomic_dec_ptr;
	void *(*const add_nv)(volatile void *, ssize_t) = atomic_add_ptr_nv;
	void *(*const inc_nv)(volatile void *) = atomic_inc_ptr_nv;
	void *(*const dec_nv)(volatile void *) = atomic_dec_ptr_nv;
	void *(*const swap)(volatile void *, void *) = atomic_swap_ptr;
	void *(*const cas)(volatile void *, void *, void *) = atomic_cas_ptr;
	char c[16];
	char *volatile p = c;

	vadd(&p, 9);
	EXPECT(p == c + 9);
	EXPECT(add_nv(&p, -8) == c + 1);
	vinc(&p);
	EXPECT(p == c + 2);
	EXPECT(inc_nv(&p) == c + 3);
	vdec(&p);
	EXPECT(p == c + 2);
	EXPECT(dec_nv(&p) == c + 1);
	EXPECT(swap(&p, c + 7) == c + 1);
	EXPECT(cas(&p, c + 1, c) == c + 7);
	EXPECT(p == c + 7);
	EXPECT(cas(&p, c + 7, c) == c + 7);
	EXPECT(p == c);
}

TEST(bits_of_a_long)
{
	int (*const set)(volatile ulong_t *, uint_t) = atomic_set_long_excl;
	int (*const clear)(volatile ulong_t *, uint_t) = atomic_clear_long_excl;
	volatile ulong_t v = 0;

	for (uint_t bit = 0; bit < 64; bit++) {
		EXPECT_EQ(clear(&v, bit), -1);
		EXPECT_EQ(set(&v, bit), 0);
		EXPECT_EQ(v, 1UL << bit);
		EXPECT_EQ(set(&v, bit), -1);
		EXPECT_EQ(v, 1UL << bit);
		EXPECT_EQ(clear(&v, bit), 0);
		EXPECT_EQ(v, 0);
	}
}

#define ROUNDS 20000

static volatile uint_t lock, late;
static volatile ulong_t counted;
static ulong_t guarded, written;
static volatile ulong_t ready;

static void *
use_lock(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		while (atomic_cas_uint(&lock, 0, 1) != 0)
			sched_yield();
		membar_enter();
		guarded++;
		membar_exit();
		lock = 0;
		atomic_inc_ulong(&counted);
	}
	return arg;
}

static void *
read_written(void *arg)
{
	ulong_t seen;

	do {
		seen = ready;
		membar_consumer();
		late += written < seen;
		sched_yield();
	} while (seen < ROUNDS);
	return arg;
}

static void
run_two(void *(*fn)(void *), void *(*other)(void *))
{
	pthread_t t[2];

	EXPECT_EQ(pthread_create(&t[0], NULL, fn, NULL), 0);
	EXPECT_EQ(pthread_create(&t[1], NULL, other, NULL), 0);
	EXPECT_EQ(pthread_join(t[0], NULL), 0);
	EXPECT_EQ(pthread_join(t[1], NULL), 0);
}

TEST(a_lock_of_them_guards_and_no_count_is_lost)
{
	guarded = counted = 0;
	run_two(use_lock, use_lock);
	EXPECT_EQ(guarded, 2 * ROUNDS);
	EXPECT_EQ(counted, 2 * ROUNDS);
}

static void *
write_all(void *arg)
{
	for (ulong_t i = 1; i <= ROUNDS; i++) {
		written = i;
		membar_producer();
		ready = i;
	}
	return arg;
}

TEST(what_is_written_before_is_seen_before)
{
	ready = written = late = 0;
	run_two(read_written, write_all);
	EXPECT_EQ(late, 0);
}

TEST_TWICE(); /* the C library keeps stacks of threads */
