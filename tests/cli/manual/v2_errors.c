/*
 * cpc_seterrhndlr(3CPC): the handler gets the name of the function, the
 * subcode, and a text.  cpc_set_create(3CPC), NOTES: picnum.
 */
#include "common.h"

#include <string.h>

const char program[] = "v2_errors";

static cpc_t *cpc;
static char last_fn[64], last_text[256];
static int last_code, calls;

static void
myapp_errfn(const char *fn, int subcode, const char *fmt, va_list ap)
{
	snprintf(last_fn, sizeof(last_fn), "%s", fn);
	vsnprintf(last_text, sizeof(last_text), fmt, ap);
	last_code = subcode;
	calls++;
}

/* The function fails without a call of the handler. */
#define NO_SUBCODE (-1)

/* Add the request n times and bind: one fails with EINVAL and this subcode. */
static void
refused(const char *event, uint_t flags, int nattrs, const cpc_attr_t *attrs,
    uint_t n, int subcode, const char *name)
{
	cpc_set_t *set = cpc_set_create(cpc);
	const char *fn = "cpc_set_add_request";

	calls = 0;
	errno = 0;
	while (n-- > 0)
		if (cpc_set_add_request(
			cpc, set, event, 0, flags, nattrs, attrs) == -1)
			break;
	if (errno == 0) {
		fn = "cpc_bind_curlwp";
		if (cpc_bind_curlwp(cpc, set, 0) == 0)
			error("%s: the bind succeeds", name);
	}
	if (errno != EINVAL)
		error("%s: errno %s", name, strerror(errno));
	if (subcode == NO_SUBCODE) {
		CHECK(calls == 0 && cpc_set_destroy(cpc, set) == 0);
		return;
	}
	if (calls != 1 || last_code != subcode)
		error("%s: %d calls, subcode %d, not %d", name, calls,
		    last_code, subcode);
	if (strcmp(last_fn, fn) != 0)
		error("%s: reported by '%s', not '%s'", name, last_fn, fn);
	if (last_text[0] == '\0')
		error("%s: no text", name);
	CHECK(cpc_set_destroy(cpc, set) == 0);
}

#define REFUSED(event, flags, nattrs, attrs, n, subcode)                       \
	refused(event, flags, nattrs, attrs, n, subcode, #subcode)

int
main(void)
{
	cpc_attr_t no_such = { "no_such_attribute", 1 };
	cpc_attr_t far_pic = { "picnum", 1000 };
	cpc_attr_t pic0 = { "picnum", 0 };
	const uint_t user = CPC_COUNT_USER;
	cpc_set_t *set;

	CHECK((cpc = cpc_open(CPC_VER_CURRENT)) != NULL);
	cpc_seterrhndlr(cpc, myapp_errfn);
	REFUSED("no_such_event", user, 0, NULL, 1, CPC_INVALID_EVENT);
	REFUSED(EVENT, user, 1, &no_such, 1, CPC_INVALID_ATTRIBUTE);
	REFUSED(EVENT, user, 1, &far_pic, 1, CPC_INVALID_PICNUM);
	REFUSED(EVENT, 0x8000, 0, NULL, 1, CPC_REQ_INVALID_FLAGS);
	REFUSED(EVENT, user, 1, &pic0, 2, NO_SUBCODE);
	REFUSED(EVENT, user, 0, NULL, cpc_npic(cpc) + 1, NO_SUBCODE);

	/* The handle still works. */
	CHECK((set = cpc_set_create(cpc)) != NULL);
	CHECK(cpc_set_add_request(cpc, set, EVENT, 0, user, 0, NULL) == 0);
	CHECK(cpc_bind_curlwp(cpc, set, 0) == 0);

	/* The default routine again: it writes to stderr. */
	cpc_seterrhndlr(cpc, NULL);
	calls = 0;
	FAILS(cpc_set_add_request(
		  cpc, cpc_set_create(cpc), "no_such_event", 0, user, 0, NULL),
	    EINVAL);
	EQUAL(calls, 0);
	cpc_close(cpc);
	return finish();
}
