/* Formatted output: the conversions of printf(3) without floating point. */
#include "lib/printf.h"

#include <stdbool.h>
#include <stdint.h>

#include "lib/string.h"

enum {
	LEFT = 1,
	ZERO = 2,
	ALT = 4,
};

/* The destination of the text, and one conversion specification. */
struct out {
	format_fn *o_put;
	void *o_arg;
	size_t o_len; /* produced so far */
};

struct spec {
	unsigned s_flags;
	int s_width;
	int s_prec;  /* of text; -1: none given */
	bool s_long; /* l, ll or z: 64 bits */
};

static void
put_bytes(struct out *o, const char *s, size_t n)
{
	if (n > 0)
		o->o_put(o->o_arg, s, n);
	o->o_len += n;
}

static void
put_padding(struct out *o, char c, int n)
{
	static const char spaces[] = "                ";
	static const char zeros[] = "0000000000000000";

	while (n > 0) {
		int take = n < 16 ? n : 16;

		put_bytes(o, c == '0' ? zeros : spaces, (size_t)take);
		n -= take;
	}
}

/* Pad text to its width: prefix (sign, 0x), then zeros, then body. */
static void
put_field(struct out *o, const struct spec *s, const char *prefix, int zeros,
    const char *body, size_t len)
{
	int fill = s->s_width - (int)strlen(prefix) - zeros - (int)len;

	if (!(s->s_flags & LEFT))
		put_padding(o, ' ', fill);
	put_bytes(o, prefix, strlen(prefix));
	put_padding(o, '0', zeros);
	put_bytes(o, body, len);
	if (s->s_flags & LEFT)
		put_padding(o, ' ', fill);
}

static void
put_number(struct out *o, const struct spec *s, uint64_t v, unsigned base,
    const char *prefix)
{
	char text[24], *p = text + sizeof text;
	int len, zeros = 0;

	do {
		*--p = "0123456789abcdef"[v % base];
		v /= base;
	} while (v != 0);
	len = (int)(text + sizeof text - p);
	if ((s->s_flags & (ZERO | LEFT)) == ZERO)
		zeros = s->s_width - len - (int)strlen(prefix);
	put_field(o, s, prefix, zeros > 0 ? zeros : 0, p, (size_t)len);
}

static void
put_signed(struct out *o, const struct spec *s, int64_t v)
{
	put_number(
	    o, s, v < 0 ? -(uint64_t)v : (uint64_t)v, 10, v < 0 ? "-" : "");
}

static void
put_string(struct out *o, const struct spec *s, const char *str)
{
	if (str == NULL)
		str = "(null)";
	put_field(o, s, "", 0, str,
	    s->s_prec < 0 ? strlen(str) : strnlen(str, (size_t)s->s_prec));
}

/* Print one conversion.  Returns false if c is not a conversion. */
static bool
put_conversion(struct out *o, struct spec *s, char c, va_list *ap)
{
	uint64_t v;
	char ch;

	switch (c) {
	case 'd':
		put_signed(
		    o, s, s->s_long ? va_arg(*ap, int64_t) : va_arg(*ap, int));
		return true;
	case 'u':
	case 'x':
		v = s->s_long ? va_arg(*ap, uint64_t) : va_arg(*ap, unsigned);
		put_number(o, s, v, c == 'u' ? 10 : 16,
		    v != 0 && (s->s_flags & ALT) ? "0x" : "");
		return true;
	case 'p':
		v = (uintptr_t)va_arg(*ap, void *);
		put_number(o, s, v, 16, "0x");
		return true;
	case 'c':
		ch = (char)va_arg(*ap, int);
		put_field(o, s, "", 0, &ch, 1);
		return true;
	case 's':
		put_string(o, s, va_arg(*ap, const char *));
		return true;
	case '%':
		put_bytes(o, "%", 1);
		return true;
	default:
		return false;
	}
}

static int
parse_number(const char **fmt, va_list *ap)
{
	int n = 0;

	if (**fmt == '*') {
		(*fmt)++;
		return va_arg(*ap, int);
	}
	while (**fmt >= '0' && **fmt <= '9')
		n = n * 10 + *(*fmt)++ - '0';
	return n;
}

static const char *
parse_spec(const char *fmt, struct spec *s, va_list *ap)
{
	static const char flags[] = "-0#"; /* in the order of LEFT... */
	const char *f;

	*s = (struct spec){ .s_prec = -1 };
	for (; *fmt != '\0' && (f = strchr(flags, *fmt)) != NULL; fmt++)
		s->s_flags |= 1u << (f - flags);
	s->s_width = parse_number(&fmt, ap);
	if (s->s_width < 0) {
		s->s_flags |= LEFT;
		s->s_width = -s->s_width;
	}
	if (*fmt == '.') {
		fmt++;
		s->s_prec = parse_number(&fmt, ap);
	}
	for (; *fmt == 'l' || *fmt == 'z'; fmt++)
		s->s_long = true;
	return fmt;
}

int
vformat(format_fn *put_fn, void *arg, const char *fmt, va_list ap)
{
	struct out o = { put_fn, arg, 0 };
	va_list args;

	va_copy(args, ap);
	while (*fmt != '\0') {
		const char *from = fmt;
		struct spec s;

		while (*fmt != '\0' && *fmt != '%')
			fmt++;
		put_bytes(&o, from, (size_t)(fmt - from));
		if (*fmt == '\0')
			break;
		from = fmt;
		fmt = parse_spec(fmt + 1, &s, &args);
		if (*fmt != '\0' && put_conversion(&o, &s, *fmt, &args))
			fmt++;
		else /* print an unknown specification as it is */
			put_bytes(&o, from, (size_t)(fmt - from));
	}
	va_end(args);
	return (int)o.o_len;
}

struct buffer {
	char *b_at, *b_end; /* b_end leaves room for the NUL */
};

static void
put_buffer(void *arg, const char *s, size_t n)
{
	struct buffer *b = arg;
	size_t room = (size_t)(b->b_end - b->b_at);

	if (n > room)
		n = room;
	memcpy(b->b_at, s, n);
	b->b_at += n;
}

int
vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct buffer b = { buf, size > 0 ? buf + size - 1 : buf };
	int n = vformat(put_buffer, &b, fmt, ap);

	if (size > 0)
		*b.b_at = '\0';
	return n;
}

int
snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}
