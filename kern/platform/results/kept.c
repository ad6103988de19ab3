/* The layout of kept results: records in frames (kern/platform/console.h). */
#include "kern/platform/results/kept.h"

#include "lib/string.h"

#define MARK  "BARECPC-"
#define BEGIN "BARECPC-BEGIN "
#define END   "\nBARECPC-END\n"

static uint32_t
head_crc(const struct kept_head *h)
{
	return crc32(0, h, offsetof(struct kept_head, kh_check));
}

void
kept_start(struct kept_head *h, uint64_t at, size_t bytes)
{
	*h = (struct kept_head){ .kh_magic = KEPT_MAGIC,
		.kh_at = at,
		.kh_room = (uint32_t)(bytes - sizeof *h) };
	h->kh_check = head_crc(h);
}

void
kept_end(struct kept_head *h)
{
	h->kh_ended = 1;
	h->kh_text_crc = crc32(0, kept_text(h), h->kh_bytes);
	h->kh_check = head_crc(h);
}

enum kept_state
kept_state(const struct kept_head *h, uint64_t at, size_t bytes)
{
	struct kept_head started;

	if (memcmp(h->kh_magic, KEPT_MAGIC, sizeof h->kh_magic) != 0 ||
	    h->kh_at != at)
		return KEPT_ABSENT;
	if (h->kh_room != bytes - sizeof *h)
		return KEPT_DAMAGED;
	if (h->kh_ended == 0) {
		/* The counts have no checksum until the end. */
		kept_start(&started, at, bytes);
		return h->kh_check == started.kh_check ? KEPT_RUNNING
		                                       : KEPT_DAMAGED;
	}
	if (h->kh_check != head_crc(h) || h->kh_bytes > h->kh_room ||
	    h->kh_text_crc != crc32(0, kept_text(h), h->kh_bytes))
		return KEPT_DAMAGED;
	return KEPT_ENDED;
}

/* A frame whose first line was read. */
struct frame {
	const char *what; /* "<stream> <number> <bytes>" */
	size_t what_bytes, bytes;
	uint32_t crc;
};

/* The end of the word at s, at a character `after`; NULL without it. */
static const char *
word_end(const char *s, const char *end, char after)
{
	return s < end ? memchr(s, after, (size_t)(end - s)) : NULL;
}

/*
 * Read a number of the base up to `to`.  Returns false if it is not one.
 * strtoul() would skip white space, also beyond `to`.
 */
static bool
number(const char *s, const char *to, unsigned base, unsigned long *v)
{
	*v = 0;
	if (s == to || to - s > 10)
		return false;
	for (; s < to; s++) {
		unsigned digit = base;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			digit = (unsigned)(*s - 'a') + 10;
		if (digit >= base)
			return false;
		*v = *v * base + digit;
	}
	return true;
}

/* Read a frame's first line, after BEGIN.  Returns its end, or NULL. */
static const char *
first_line(const char *s, const char *end, struct frame *f)
{
	const char *stream = word_end(s, end, ' '), *no, *n, *line;
	unsigned long v;

	if (stream == NULL || (no = word_end(stream + 1, end, ' ')) == NULL ||
	    (n = word_end(no + 1, end, ' ')) == NULL ||
	    (line = word_end(n + 1, end, '\n')) == NULL ||
	    !number(stream + 1, no, 10, &v) || !number(no + 1, n, 10, &v))
		return NULL;
	f->what = s;
	f->what_bytes = (size_t)(n - s);
	f->bytes = v;
	if (!number(n + 1, line, 16, &v))
		return NULL;
	f->crc = (uint32_t)v;
	return line + 1;
}

static const char *
next_mark(const char *s, const char *end)
{
	const size_t mark = sizeof MARK - 1;

	for (; (size_t)(end - s) >= mark; s++) {
		s = memchr(s, MARK[0], (size_t)(end - s));
		if (s == NULL || (size_t)(end - s) < mark)
			return NULL;
		if (memcmp(s, MARK, mark) == 0)
			return s;
	}
	return NULL;
}

/* Copy a frame's bytes, with BARECPC>- as BARECPC-, and so on. */
static size_t
unhide(const char *s, const char *end, char *to)
{
	const size_t letters = sizeof MARK - 2;
	size_t matched = 0, n = 0;

	for (; s < end; s++) {
		if (matched < letters || *s != '>') {
			if (matched == letters && *s == '-')
				n--; /* the last > is the kernel's */
			if (matched < letters && *s == MARK[matched])
				matched++;
			else
				matched = *s == MARK[0];
		}
		to[n++] = *s;
	}
	return n;
}

/*
 * Copy the bytes of a frame from s to `to`.  They are never more than in s.
 * Returns what follows its end mark, or NULL if the frame is damaged.
 */
static const char *
frame_bytes(const char *s, const char *end, const struct frame *f, char *to)
{
	const char *mark = next_mark(s, end);
	const size_t after = sizeof END - 1;

	if (mark == NULL || mark == s || (size_t)(end - mark) < after - 1 ||
	    memcmp(mark - 1, END, after) != 0)
		return NULL;
	size_t n = unhide(s, mark - 1, to);
	if (n != f->bytes ||
	    crc32(crc32(0, f->what, f->what_bytes), to, n) != f->crc)
		return NULL;
	return mark - 1 + after;
}

/* Make one line of a record in place.  Returns its bytes. */
static size_t
one_line(char *s, size_t n)
{
	size_t from = 0;

	while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\n'))
		n--;
	while (from < n && (s[from] == ' ' || s[from] == '\n'))
		from++;
	memmove(s, s + from, n - from);
	n -= from;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n')
			s[i] = ' ';
	}
	s[n++] = '\n';
	return n;
}

/*
 * Find the next frame at or after *s and copy its bytes to `to`.  Returns 1, 0
 * at the end, or -1 if it is damaged.  *s becomes what follows it.
 */
static int
next_frame(const char **s, const char *end, struct frame *f, char *to)
{
	const size_t begin = sizeof BEGIN - 1;

	if ((*s = next_mark(*s, end)) == NULL)
		return 0;
	if ((size_t)(end - *s) < begin || memcmp(*s, BEGIN, begin) != 0 ||
	    (*s = first_line(*s + begin, end, f)) == NULL ||
	    (*s = frame_bytes(*s, end, f, to)) == NULL)
		return -1;
	return 1;
}

static bool
is_stream(const struct frame *f, const char *stream)
{
	return memcmp(f->what, stream, strlen(stream)) == 0;
}

long
kept_lines(const char *text, size_t bytes, char *to, struct kept_count *n)
{
	const char *s = text, *end = s + bytes;
	long filled = 0;
	struct frame f;
	int got;

	*n = (struct kept_count){ 0 };
	while ((got = next_frame(&s, end, &f, to + filled)) > 0) {
		if (is_stream(&f, "json "))
			filled += (long)one_line(to + filled, f.bytes);
		else if (is_stream(&f, "exit "))
			n->kc_status = true;
		else
			continue;
		n->kc_frames++;
	}
	return got < 0 ? -1 : filled;
}

long
kept_records(const struct kept_head *h, char *to, const char **why)
{
	struct kept_count n;
	long bytes = kept_lines(kept_text(h), h->kh_bytes, to, &n);

	*why = "a frame is damaged";
	if (bytes < 0)
		return -1;
	*why = "the run did not reach its status";
	if (!n.kc_status)
		return -1;
	*why = "there was no room for all records";
	return h->kh_lost == 0 && n.kc_frames == h->kh_frames ? bytes : -1;
}

size_t
kept_copy(const struct kept_head *h, struct kept_head *to, size_t room)
{
	const char *s = kept_text(h), *end = s + h->kh_bytes, *from;
	bool status = false;
	struct frame f;
	size_t n;

	kept_start(to, 0, KEPT_VARIABLES_BYTES);
	while ((from = next_mark(s, end)) != NULL) {
		const size_t begin = sizeof BEGIN - 1;

		if ((size_t)(end - from) < begin ||
		    (s = first_line(from + begin, end, &f)) == NULL ||
		    (s = next_mark(s, end)) == NULL)
			return 0;
		s += sizeof END - 2; /* without the newline before the mark */
		if (s > end)
			return 0;
		if (is_stream(&f, "exit "))
			status = true;
		else if (!is_stream(&f, "json "))
			continue;
		n = (size_t)(s - from);
		if (sizeof *to + to->kh_bytes + n > room)
			return 0;
		memcpy(kept_text(to) + to->kh_bytes, from, n);
		to->kh_bytes += (uint32_t)n;
		to->kh_frames++;
	}
	to->kh_lost = h->kh_lost;
	kept_end(to);
	return status ? sizeof *to + to->kh_bytes : 0;
}

void
kept_variable_name(unsigned n, uint16_t to[KEPT_NAME + 1])
{
	static const char name[] = "BarecpcKept";
	unsigned i;

	for (i = 0; name[i] != '\0'; i++)
		to[i] = (uint16_t)name[i];
	to[i++] = (uint16_t)('0' + n / 10);
	to[i++] = (uint16_t)('0' + n % 10);
	to[i] = 0;
}
