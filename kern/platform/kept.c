/*
 * The layout of kept results, and the records in their frames
 * (kern/platform/console.h).
 */
#include "kern/platform/kept.h"

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

/* Read a number of the base up to `to`.  Returns false if it is not one. */
static bool
number(const char *s, const char *to, int base, unsigned long *v)
{
	char *end;

	*v = strtoul(s, &end, base);
	return to - s > 0 && to - s <= 10 && end == to;
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
	size_t n;

	if (mark == NULL || mark == s || (size_t)(end - mark) < after - 1 ||
	    memcmp(mark - 1, END, after) != 0)
		return NULL;
	n = unhide(s, mark - 1, to);
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

long
kept_records(const struct kept_head *h, char *to, const char **why)
{
	const size_t begin = sizeof BEGIN - 1;
	const char *s = kept_text(h), *end = s + h->kh_bytes;
	unsigned frames = 0;
	bool status = false;
	long bytes = 0;
	struct frame f;

	*why = "a frame is damaged";
	while ((s = next_mark(s, end)) != NULL) {
		if ((size_t)(end - s) < begin || memcmp(s, BEGIN, begin) != 0 ||
		    (s = first_line(s + begin, end, &f)) == NULL ||
		    (s = frame_bytes(s, end, &f, to + bytes)) == NULL)
			return -1;
		if (memcmp(f.what, "json ", 5) == 0) {
			bytes += (long)one_line(to + bytes, f.bytes);
			frames++;
		} else if (memcmp(f.what, "exit ", 5) == 0) {
			status = true;
			frames++;
		}
	}
	*why = "the run did not reach its status";
	if (!status)
		return -1;
	*why = "there was no room for all records";
	return h->kh_lost == 0 && frames == h->kh_frames ? bytes : -1;
}
