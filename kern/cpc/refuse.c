/*
 * Refusals of a bind: a subcode, and why in words.  Each call of a bind has its
 * own struct cpc_refusal, which goes down to the function that refuses.
 */
#include <stdarg.h>

#include "kern/cpc/kcpc_impl.h"
#include "kern/platform/errno.h"
#include "lib/printf.h"

int
kcpc_refuse(struct cpc_refusal *rf, int subcode)
{
	rf->cf_subcode = subcode;
	switch (subcode) {
	case CPC_ATTR_REQUIRES_PRIVILEGE:
	case CPC_HV_NO_ACCESS:
		return EACCES;
	default:
		return EINVAL;
	}
}

int
pcbe_refuse(struct cpc_refusal *rf, int subcode, const char *fmt, ...)
{
	va_list ap;

	if (rf != NULL) {
		va_start(ap, fmt);
		vsnprintf(rf->cf_why, sizeof rf->cf_why, fmt, ap);
		va_end(ap);
	}
	return subcode;
}

/* Print the numbers of the bits that are set, as ranges: "0-3,8". */
static void
print_bits(char *buf, size_t size, uint64_t bits)
{
	unsigned first, last, n = 0;

	for (; bits != 0 && n < size; bits &= bits + (1ULL << first)) {
		first = (unsigned)__builtin_ctzll(bits);
		last = first + (unsigned)__builtin_ctzll(~(bits >> first)) - 1;
		n += (unsigned)snprintf(
		    buf + n, size - n, "%s%u", n != 0 ? "," : "", first);
		if (last != first && n < size)
			n += (unsigned)snprintf(buf + n, size - n, "-%u", last);
	}
}

int
kcpc_refuse_short(struct cpc_refusal *rf, const struct kcpc_short *ks)
{
	char reqs[40], pics[40];

	print_bits(reqs, sizeof reqs, ks->ksh_reqs);
	print_bits(pics, sizeof pics, ks->ksh_pics);
	if (ks->ksh_pics == 0)
		pcbe_refuse(rf, 0, "no PIC can count request %s", reqs);
	else
		pcbe_refuse(rf, 0, "requests %s can be on PIC%s %s alone", reqs,
		    (ks->ksh_pics & (ks->ksh_pics - 1)) != 0 ? "s" : "", pics);
	return kcpc_refuse(rf, CPC_RESOURCE_UNAVAIL);
}
