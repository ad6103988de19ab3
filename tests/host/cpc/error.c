/* Error reports: the default output, the handler, and its arguments. */
#include "tests/lib/host/kcpc/host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A cpc_set_add_request() that fails with CPC_INVALID_EVENT. */
static int
bad_add(cpc_t *c)
{
	cpc_set_t *set = cpc_set_create(c);
	int r = cpc_set_add_request(
	    c, set, "no such event", 0, CPC_COUNT_USER, 0, NULL);
	int err = errno;

	cpc_set_destroy(c, set);
	errno = err;
	return r;
}

/* The text that bad_add() writes to stderr. */
static size_t
stderr_of_bad_add(char *text, size_t size)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);

	assert_non_null(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	assert_int_equal(bad_add(cpc), -1);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	size_t n = fread(text, 1, size - 1, file);
	text[n] = '\0';
	fclose(file);
	return n;
}

/* CPC-ERR-01 */
CPC_TEST(default_is_one_line_on_stderr)
{
	char text[256];

	stderr_of_bad_add(text, sizeof text);
	assert_string_equal(
	    text, "libcpc: cpc_set_add_request: Unknown event\n");
}

/* CPC-ERR-02 */
CPC_TEST(handler_replaces_stderr)
{
	char text[256];

	detail_listen(cpc);
	assert_int_equal(stderr_of_bad_add(text, sizeof text), 0);
	assert_string_equal(detail.fn, "cpc_set_add_request");
	assert_int_equal(detail.subcode, CPC_INVALID_EVENT);
}

static void
clear_errno(const char *fn, int subcode, const char *fmt, va_list ap)
{
	errno = 0;
}

/* CPC-ERR-03 */
CPC_TEST(errno_survives_the_handler)
{
	cpc_seterrhndlr(cpc, clear_errno);
	assert_int_equal(bad_add(cpc), -1);
	assert_int_equal(errno, EINVAL);
}

/* CPC-ERR-04 */
CPC_TEST(null_restores_the_default)
{
	char text[256];

	assert_int_equal(cpc_seterrhndlr(cpc, detail_note), 0);
	assert_int_equal(cpc_seterrhndlr(cpc, NULL), 0);
	assert_true(stderr_of_bad_add(text, sizeof text) > 0);
}

/* CPC-ERR-05 */
CPC_TEST(handlers_belong_to_their_handle)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);

	detail_listen(cpc);
	cpc_seterrhndlr(other, clear_errno);
	bad_add(other);
	cpc_close(other);
	assert_int_equal(detail.calls, 0);
}

/* CPC-ERR-06 */
CPC_TEST(text_ends_in_a_newline)
{
	detail_listen(cpc);
	bad_add(cpc);
	assert_string_equal(detail.text, "Unknown event\n");
}

/* CPC-ERR-07 */
CPC_TEST(handler_is_called_once_or_not_at_all)
{
	cpc_set_t *set = cpc_set_create(cpc);

	detail_listen(cpc);
	bad_add(cpc);
	assert_int_equal(detail.calls, 1);
	/* Silent: an empty set, and a set that does not exist. */
	cpc_bind_curlwp(cpc, set, 0);
	cpc_bind_curlwp(cpc, NULL, 0);
	assert_int_equal(detail.calls, 1);
}

static cpc_set_t *made;

static void
use_the_library(const char *fn, int subcode, const char *fmt, va_list ap)
{
	assert_int_equal(cpc_npic(cpc), 4);
	made = cpc_set_create(cpc);
}

/* CPC-ERR-08 */
CPC_TEST(handler_may_call_the_library)
{
	cpc_seterrhndlr(cpc, use_the_library);
	bad_add(cpc);
	assert_non_null(made);
	assert_int_equal(cpc_set_destroy(cpc, made), 0);
}

/* CPC-ERR-09 */
CPC_TEST(subcodes_are_1_to_11)
{
	const int subcodes[] = { CPC_INVALID_EVENT, CPC_INVALID_PICNUM,
		CPC_INVALID_ATTRIBUTE, CPC_ATTRIBUTE_OUT_OF_RANGE,
		CPC_RESOURCE_UNAVAIL, CPC_PIC_NOT_CAPABLE,
		CPC_REQ_INVALID_FLAGS, CPC_CONFLICTING_REQS,
		CPC_ATTR_REQUIRES_PRIVILEGE, CPC_PBIND_FAILED,
		CPC_HV_NO_ACCESS };

	for (int i = 0; i < 11; i++)
		assert_int_equal(subcodes[i], i + 1);
}

/* include/libcpc.h names these errnos; strerror(3) must know each. */
CPC_TEST(errnos_are_distinct_and_known)
{
	const int e[] = { ENOTSUP, ENOSYS, EAGAIN, EACCES, EINVAL, ENOMEM,
		ESRCH, ENXIO, EIO };
	size_t i, j;

	for (i = 0; i < sizeof e / sizeof e[0]; i++) {
		assert_null(strstr(strerror(e[i]), "nknown"));
		for (j = 0; j < i; j++)
			assert_int_not_equal(e[i], e[j]);
	}
}
