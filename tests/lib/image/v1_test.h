/* Helpers for tests of version 1 of libcpc, which include this header. */
#pragma once

#include "tests/lib/image/cpc_test.h"

/* Skip the test on a machine that version 1 cannot use. */
#define NEEDS_V1()                                                             \
	do {                                                                   \
		if (cpc_getcpuver() == -1)                                     \
			SKIP("no PMU here with two general PICs");             \
	} while (0)

/* Define a test that needs version 1 and the event that most tests count. */
#define V1_TEST(name)                                                          \
	static void v1_test_##name(void);                                      \
	CPC_TEST(name)                                                         \
	{                                                                      \
		NEEDS_V1();                                                    \
		if (!have_event(cpc, INS_EVENT))                               \
			SKIP("this PMU does not count " INS_EVENT);            \
		v1_test_##name();                                              \
	}                                                                      \
	static void v1_test_##name(void)

/* The event of these two on counters 0 and 1, at the own privilege. */
cpc_event_t v1_event(const char *pic0, const char *pic1);

/* The reports to the error function of version 1, since v1_listen(). */
extern struct v1_report {
	int calls;
	char fn[32];
	char text[256]; /* of the last */
} v1_report;
void v1_listen(void);
