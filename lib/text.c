/* Text that is appended to a buffer, cut as snprintf() would. */
#include "lib/text.h"

#include <stdarg.h>

#include "lib/printf.h"

void
text_add(struct text *t, const char *fmt, ...)
{
	size_t at = t->t_len < t->t_size ? t->t_len : t->t_size;
	va_list ap;

	va_start(ap, fmt);
	t->t_len += (size_t)vsnprintf(t->t_buf + at, t->t_size - at, fmt, ap);
	va_end(ap);
}

void
text_add_string(struct text *t, const char *s)
{
	if (s == NULL) {
		text_add(t, "null");
		return;
	}
	text_add(t, "\"");
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			text_add(t, "\\%c", *s);
		else
			text_add(t, "%c", *s >= ' ' && *s <= '~' ? *s : '?');
	}
	text_add(t, "\"");
}
