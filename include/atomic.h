/*
 * Atomic operations under their Solaris and illumos names.  Included by
 * programs.  Every operation is a full barrier.  atomic_ops(3C).
 */
#ifndef BARECPC_ATOMIC_H
#define BARECPC_ATOMIC_H

#include <stdint.h>
#include <sys/types.h>

/* atomic_add_NAME() and its relatives; _nv returns the new value. */
#define ATOMIC_OPS_(name, type, delta)                                         \
	static inline void atomic_add_##name(volatile type *p, delta d)        \
	{                                                                      \
		__atomic_fetch_add(p, (type)d, __ATOMIC_SEQ_CST);              \
	}                                                                      \
	static inline type atomic_add_##name##_nv(volatile type *p, delta d)   \
	{                                                                      \
		return __atomic_add_fetch(p, (type)d, __ATOMIC_SEQ_CST);       \
	}                                                                      \
	static inline void atomic_inc_##name(volatile type *p)                 \
	{                                                                      \
		__atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST);                    \
	}                                                                      \
	static inline type atomic_inc_##name##_nv(volatile type *p)            \
	{                                                                      \
		return __atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST);             \
	}                                                                      \
	static inline void atomic_dec_##name(volatile type *p)                 \
	{                                                                      \
		__atomic_fetch_sub(p, 1, __ATOMIC_SEQ_CST);                    \
	}                                                                      \
	static inline type atomic_dec_##name##_nv(volatile type *p)            \
	{                                                                      \
		return __atomic_sub_fetch(p, 1, __ATOMIC_SEQ_CST);             \
	}                                                                      \
	static inline void atomic_or_##name(volatile type *p, type bits)       \
	{                                                                      \
		__atomic_fetch_or(p, bits, __ATOMIC_SEQ_CST);                  \
	}                                                                      \
	static inline void atomic_and_##name(volatile type *p, type bits)      \
	{                                                                      \
		__atomic_fetch_and(p, bits, __ATOMIC_SEQ_CST);                 \
	}                                                                      \
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

ATOMIC_OPS_(8, uint8_t, int8_t)
ATOMIC_OPS_(16, uint16_t, int16_t)
ATOMIC_OPS_(32, uint32_t, int32_t)
ATOMIC_OPS_(64, uint64_t, int64_t)
ATOMIC_OPS_(uint, uint_t, int)
ATOMIC_OPS_(ulong, ulong_t, long)

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
