/* The fixture of the libcpc tests, and short forms of common calls. */

#include "tests/lib/host/kcpc/host.h"

#include <stdio.h>
#include <string.h>

cpc_t *cpc;
struct detail detail;

int
fixture_up(void **state)
{
	fake_shape = fake_ordinary;
	fake_boot();
	cpc = cpc_open(CPC_VER_CURRENT);
	return cpc != NULL ? 0 : -1;
}

void
reboot(void)
{
	const char *left;

	cpc_close(cpc);
	if ((left = fake_halt()) != NULL)
		fail_msg("still there after the test: %s", left);
	fake_boot();
	cpc = cpc_open(CPC_VER_CURRENT);
}

int
fixture_down(void **state)
{
	const char *left;

	fake_on_syscall = NULL;
	cpc_close(cpc);
	if ((left = fake_halt()) == NULL)
		return 0;
	print_error("still there after the test: %s\n", left);
	return -1;
}

void
detail_note(const char *fn, int subcode, const char *fmt, va_list ap)
{
	detail.calls++;
	detail.subcode = subcode;
	snprintf(detail.fn, sizeof detail.fn, "%s", fn);
	vsnprintf(detail.text, sizeof detail.text, fmt, ap);
}

void
detail_listen(cpc_t *c)
{
	memset(&detail, 0, sizeof detail);
	cpc_seterrhndlr(c, detail_note);
}

int
add_flags(cpc_set_t *set, const char *event, uint_t flags)
{
	int index = cpc_set_add_request(cpc, set, event, 0, flags, 0, NULL);

	assert_int_not_equal(index, -1);
	return index;
}

int
add(cpc_set_t *set, const char *event)
{
	return add_flags(set, event, CPC_COUNT_USER);
}

int
add_preset(cpc_set_t *set, const char *event, uint64_t preset)
{
	int index = cpc_set_add_request(
	    cpc, set, event, preset, CPC_COUNT_USER, 0, NULL);

	assert_int_not_equal(index, -1);
	return index;
}

int
add_pic(cpc_set_t *set, const char *event, uint64_t pic)
{
	char name[] = "picnum";
	cpc_attr_t attr = { name, pic };
	int index =
	    cpc_set_add_request(cpc, set, event, 0, CPC_COUNT_USER, 1, &attr);

	assert_int_not_equal(index, -1);
	return index;
}

cpc_set_t *
set_of(const char *event)
{
	cpc_set_t *set = cpc_set_create(cpc);

	assert_non_null(set);
	add(set, event);
	return set;
}

cpc_buf_t *
buf_of(cpc_set_t *set)
{
	cpc_buf_t *buf = cpc_buf_create(cpc, set);

	assert_non_null(buf);
	return buf;
}

void
bind_curlwp(cpc_set_t *set)
{
	assert_int_equal(cpc_bind_curlwp(cpc, set, 0), 0);
}

uint64_t
got(cpc_buf_t *buf, int index)
{
	uint64_t value = 0;

	assert_int_equal(cpc_buf_get(cpc, buf, index, &value), 0);
	return value;
}

uint64_t
sampled(cpc_set_t *set, int index)
{
	cpc_buf_t *buf = buf_of(set);

	assert_int_equal(cpc_set_sample(cpc, set, buf), 0);
	uint64_t value = got(buf, index);
	cpc_buf_destroy(cpc, buf);
	return value;
}
