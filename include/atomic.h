/*
 * Atomic operations under their Solaris and illumos names.  Included by
 * programs.  Every operation is a full barrier.  atomic_ops(3C).
 */
#ifndef BARECPC_ATOMIC_H
#define BARECPC_ATOMIC_H

#include <stdint.h>
#include <sys/types.h>

/*
 * atomic_VERB_NAME(), and the same with _nv, which returns the new value:
 * atomic_add(3C), atomic_inc(3C), atomic_dec(3C), atomic_and(3C),
 * atomic_or(3C).  expr makes the new value.
 */
#define ATOMIC_OP_(function, type, params, expr)                               \
	static inline void function params                                     \
	{                                                                      \
		(void)(expr);                                                  \
	}                                                                      \
	static inline type function##_nv params                                \
	{                                                                      \
		return expr;                                                   \
	}

/* add has the names of signed types, and all others those of unsigned types. */
#define ATOMIC_OPS_(add, name, type, delta)                                    \
	ATOMIC_OP_(atomic_add_##add, type, (volatile type * p, delta d),       \
	    __atomic_add_fetch(p, (type)d, __ATOMIC_SEQ_CST))                  \
	ATOMIC_OP_(atomic_inc_##name, type, (volatile type * p),               \
	    __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST))                        \
	ATOMIC_OP_(atomic_dec_##name, type, (volatile type * p),               \
	    __atomic_sub_fetch(p, 1, __ATOMIC_SEQ_CST))                        \
	ATOMIC_OP_(atomic_or_##name, type, (volatile type * p, type bits),     \
	    __atomic_or_fetch(p, bits, __ATOMIC_SEQ_CST))                      \
	ATOMIC_OP_(atomic_and_##name, type, (volatile type * p, type bits),    \
	    __atomic_and_fetch(p, bits, __ATOMIC_SEQ_CST))                     \
	static inline type atomic_swap_##name(volatile type *p, type value)    \
	{                                                                      \
		return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);        \
	}                                                                      \
	/* Returns the old value; it was stored if that is `expected`. */      \
	static inline type atomic_cas_##name(                                  \
	    volatile type *p, type expected, type value)                       \
	{                                                                      \
		__atomic_compare_exchange_n(p, &expected, value, 0,            \
		    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                       \
		return expected;                                               \
	}

ATOMIC_OPS_(8, 8, uint8_t, int8_t)
ATOMIC_OPS_(char, uchar, uchar_t, signed char)
ATOMIC_OPS_(16, 16, uint16_t, int16_t)
ATOMIC_OPS_(short, ushort, ushort_t, short)
ATOMIC_OPS_(32, 32, uint32_t, int32_t)
ATOMIC_OPS_(int, uint, uint_t, int)
ATOMIC_OPS_(long, ulong, ulong_t, long)
ATOMIC_OPS_(64, 64, uint64_t, int64_t)

/* A pointer moves by bytes. */
#define ATOMIC_PTR_(p, bytes)                                                  \
	((void *)__atomic_add_fetch(                                           \
	    (volatile uintptr_t *)(p), (uintptr_t)(bytes), __ATOMIC_SEQ_CST))
ATOMIC_OP_(
    atomic_add_ptr, void *, (volatile void *p, ssize_t d), ATOMIC_PTR_(p, d))
ATOMIC_OP_(atomic_inc_ptr, void *, (volatile void *p), ATOMIC_PTR_(p, 1))
ATOMIC_OP_(atomic_dec_ptr, void *, (volatile void *p), ATOMIC_PTR_(p, -1L))

static inline void *
atomic_cas_ptr(volatile void *p, void *expected, void *value)
{
	__atomic_compare_exchange_n((void *volatile *)p, &expected, value, 0,
	    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return expected;
}

static inline void *
atomic_swap_ptr(volatile void *p, void *value)
{
	return __atomic_exchange_n(
	    (void *volatile *)p, value, __ATOMIC_SEQ_CST);
}

/* Set or clear a bit.  Returns 0, or -1 if it was so.  atomic_bits(3C). */
static inline int
atomic_set_long_excl(volatile ulong_t *p, uint_t bit)
{
	ulong_t mask = (ulong_t)1 << bit;

	return __atomic_fetch_or(p, mask, __ATOMIC_SEQ_CST) & mask ? -1 : 0;
}

static inline int
atomic_clear_long_excl(volatile ulong_t *p, uint_t bit)
{
	ulong_t mask = (ulong_t)1 << bit;

	return __atomic_fetch_and(p, ~mask, __ATOMIC_SEQ_CST) & mask ? 0 : -1;
}

/* membar_ops(3C). */
static inline void
membar_enter(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void
membar_exit(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void
membar_producer(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void
membar_consumer(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

#endif /* BARECPC_ATOMIC_H */
