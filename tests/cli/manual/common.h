/* Each program of this folder needs error(), a verdict and a known loop. */
#pragma once

#include <errno.h>
#include <libcpc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENT "PAPI_tot_ins"

/* 2 * turns instructions, and the return. */
void loop(uint64_t turns);

extern const char program[];

/* "analogous to the familiar printf(3C) [...] also performs an exit(2)" */
static inline void
error(const char *fmt, ...)
{
	va_list ap;

	printf("not ok %s: ", program);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(1);
}

#define CHECK(fact)                                                            \
	((fact) ? (void)0                                                      \
		: error("line %d: %s (errno: %s)", __LINE__, #fact,            \
		      strerror(errno)))

/* The call fails with -1 and this errno. */
#define FAILS(call, wanted)                                                    \
	do {                                                                   \
		errno = 0;                                                     \
		CHECK((call) == -1);                                           \
		if (errno != (wanted))                                         \
			error("line %d: %s: errno %s, not %s", __LINE__,       \
			    #call, strerror(errno), #wanted);                  \
	} while (0)

#define EQUAL(a, b)                                                            \
	do {                                                                   \
		uint64_t a_ = (a), b_ = (b);                                   \
		if (a_ != b_)                                                  \
			error("line %d: %s is %llu, not %llu", __LINE__, #a,   \
			    (unsigned long long)a_, (unsigned long long)b_);   \
	} while (0)

static inline int
finish(void)
{
	printf("ok %s\n", program);
	return 0;
}
