/*
 * The fixture of the libcpc tests on the build machine.  Each test finds a
 * freshly booted fake kernel.  It fails if it leaves memory, contexts, PICs or
 * timers there.  Included by tests/host.
 *
 * A test is one claim.  Its comment cites the assertions of the contract that
 * it proves.
 */
#pragma once

#include <errno.h>
#include <libcpc.h>
#include <stdbool.h>

#include "tests/lib/host/kcpc/fake_kernel.h"
#include "tests/lib/host/kcpc/fake_pcbe.h"
#include "tests/lib/host/test.h"

/* A handle that the fixture opens.  Tests create everything else. */
extern cpc_t *cpc;

/* Close the handle, boot with fake_shape, open a new handle. */
void reboot(void);

int fixture_up(void **state);
int fixture_down(void **state);
/* Define a test: CPC_TEST(name) { ... } */
#define CPC_TEST(name) TEST_WITH(name, fixture_up, fixture_down)

/* The call fails with this errno, and does not merely keep an older one. */
#define assert_errno(call, e)                                                  \
	do {                                                                   \
		errno = 0;                                                     \
		assert_int_equal((call), -1);                                  \
		assert_int_equal(errno, (e));                                  \
	} while (0)
/* The same for a call that returns a pointer. */
#define assert_null_errno(call, e)                                             \
	do {                                                                   \
		errno = 0;                                                     \
		assert_null((call));                                           \
		assert_int_equal(errno, (e));                                  \
	} while (0)
/* The same, and the handler gets one report, of function and subcode. */
#define assert_reported(call, e, function, code)                               \
	do {                                                                   \
		detail_listen(cpc);                                            \
		assert_errno(call, e);                                         \
		assert_int_equal(detail.calls, 1);                             \
		assert_string_equal(detail.fn, function);                      \
		assert_int_equal(detail.subcode, code);                        \
	} while (0)
/* The same, and the handler gets no report. */
#define assert_silent(call, e)                                                 \
	do {                                                                   \
		detail_listen(cpc);                                            \
		assert_errno(call, e);                                         \
		assert_int_equal(detail.calls, 0);                             \
	} while (0)

/* The handler's reports since detail_listen() installed it. */
extern struct detail {
	int calls;
	int subcode;
	char fn[64];
	char text[256];
} detail;
void detail_listen(cpc_t *c);
cpc_errhndlr_t detail_note;

/* Create and add, successfully, with the simplest other values. */
cpc_set_t *set_of(const char *event);
int add(cpc_set_t *set, const char *event);
int add_preset(cpc_set_t *set, const char *event, uint64_t preset);
int add_flags(cpc_set_t *set, const char *event, uint_t flags);
int add_pic(cpc_set_t *set, const char *event, uint64_t pic);
cpc_buf_t *buf_of(cpc_set_t *set);
void bind_curlwp(cpc_set_t *set);

/* The value of a request of a bound set, and of one in a buffer. */
uint64_t sampled(cpc_set_t *set, int index);
uint64_t got(cpc_buf_t *buf, int index);
