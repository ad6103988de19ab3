/*
 * The reason why a bind is refused, in words.  The function that refuses sets
 * it, and the system call copies it to the program.  The LWP does not yield in
 * between, so one buffer is enough.
 */
#include <stdarg.h>

#include "kern/cpc/kcpc_impl.h"
#include "lib/printf.h"
#include "lib/string.h"

static char text[CPC_WHY_BYTES];

void
kcpc_reason(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
}

void
kcpc_reason_request(unsigned i)
{
	char said[sizeof text];

	if (text[0] == '\0')
		return;
	strlcpy(said, text, sizeof said);
	snprintf(text, sizeof text, "request %u: %s", i, said);
}

void
kcpc_reason_clear(void)
{
	text[0] = '\0';
}

const char *
kcpc_reason_text(void)
{
	return text;
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

void
kcpc_reason_short(const struct kcpc_short *ks)
{
	char reqs[40], pics[40];

	print_bits(reqs, sizeof reqs, ks->ksh_reqs);
	print_bits(pics, sizeof pics, ks->ksh_pics);
	if (ks->ksh_pics == 0)
		kcpc_reason("no PIC can count request %s", reqs);
	else
		kcpc_reason("requests %s can be on PIC%s %s alone", reqs,
		    (ks->ksh_pics & (ks->ksh_pics - 1)) != 0 ? "s" : "", pics);
}
