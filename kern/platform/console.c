/* The console: locking, frames, line starts, and panic(). */
#include "kern/platform/console.h"

#include <stdint.h>

#include "kern/arch.h"
#include "kern/platform/ksym.h"
#include "kern/platform/lock.h"
#include "kern/platform/results/keep.h"
#include "kern/platform/run_end.h"
#include "lib/printf.h"
#include "lib/string.h"

static struct {
	struct spinlock lock;
	bool framed;
	bool seized; /* by a report that ends the run: ignore the lock */
	bool no_frames;
	bool panicking;
	bool mid_line; /* the last character was no newline */
	enum stream last;
	unsigned frames; /* sent so far */
	void (*mirror)(int c);
	size_t nearly;
	char early[1024]; /* text so far, for a mirror that comes later */
} cons;

struct uart cons_uart;

void
cons_set_framed(bool framed)
{
	cons.framed = framed;
}

bool
cons_is_framed(void)
{
	return cons.framed;
}

void
cons_mirror(void (*fn)(int c))
{
	if (fn != NULL && cons.mirror == NULL) {
		for (size_t i = 0; i < cons.nearly; i++)
			fn(cons.early[i]);
	}
	cons.mirror = fn;
}

/* After cons_seize() the lock no longer keeps anyone out. */
static void
cons_lock(void)
{
	while (!lock_try(&cons.lock) && !cons.seized)
		arch_relax();
}

/* Send a character to the serial line only. */
static void
cons_line(int c)
{
	if (c == '\n' && !cons.framed)
		arch_putc('\r');
	keep_putc(c);
	arch_putc(c);
}

static void
cons_putc(int c)
{
	cons_line(c);
	if (cons.mirror != NULL)
		cons.mirror(c);
	else if (cons.nearly < sizeof cons.early)
		cons.early[cons.nearly++] = (char)c;
	cons.mid_line = c != '\n';
}

static void
cons_text(void *arg, const char *s, size_t n)
{
	(void)arg;
	while (n-- > 0)
		cons_putc(*s++);
}

/* Begin a new line if another stream left one unfinished. */
static void
cons_speaker(enum stream s, bool frame)
{
	if (cons.mid_line && (frame || s != cons.last))
		cons_putc('\n');
	cons.last = s;
}

static void
cons_line_text(const char *s)
{
	while (*s != '\0')
		cons_line(*s++);
}

/*
 * Send payload bytes without translation, except that BARECPC- becomes
 * BARECPC>-, BARECPC>- becomes BARECPC>>-, and so on.  Only the kernel's own
 * lines then contain BARECPC-, and a reader that lost bytes finds the next one.
 * Inline, so that nothing that keeps the bytes slows down the line.
 */
static inline __attribute__((always_inline)) void
cons_payload(const char *p, size_t n, void (*put)(int c))
{
	static const char mark[] = "BARECPC";
	size_t matched = 0;

	for (; n > 0; n--, p++) {
		if (matched == 0 && *p != mark[0]) {
			put(*p);
			continue;
		}
		if (matched == sizeof mark - 1) {
			if (*p == '-')
				put('>');
			if (*p != '>')
				matched = *p == mark[0];
		} else {
			matched =
			    *p == mark[matched] ? matched + 1 : *p == mark[0];
		}
		put(*p);
	}
}

/* A program on the host reads the frames, so the mirror does not get them. */
static void
cons_frame(enum stream s, const char *p, size_t n)
{
	static const char *const name[] = {
		[STREAM_STDOUT] = "stdout",
		[STREAM_STDERR] = "stderr",
		[STREAM_JSON] = "json",
		[STREAM_FILE] = "file",
		[STREAM_EXIT] = "exit",
	};
	char what[48], head[80];
	size_t len = (size_t)snprintf(
	    what, sizeof what, "%s %u %zu", name[s], ++cons.frames, n);
	unsigned crc = crc32(crc32(0, what, len), p, n);

	snprintf(head, sizeof head, "BARECPC-BEGIN %s %08x\n", what, crc);
	keep_frame(s >= STREAM_JSON, n);
	cons_line_text(head);
	cons_payload(p, n, arch_putc);
	if (keep_active())
		cons_payload(p, n, keep_putc);
	cons_line_text("\nBARECPC-END\n");
	keep_log(false);
}

void
cons_write(enum stream s, const char *p, size_t n)
{
	bool frame = s >= STREAM_JSON || (cons.framed && s != STREAM_LOG);

	if (n == 0 && s != STREAM_FILE)
		return;
	/* The fault that the report is about may be in the code of frames. */
	if (frame && cons.no_frames)
		return;
	cons_lock();
	cons_speaker(s, frame);
	if (frame)
		cons_frame(s, p, n);
	else
		cons_text(NULL, p, n);
	lock_release(&cons.lock);
}

int
printf(const char *fmt, ...)
{
	va_list ap;

	cons_lock();
	cons_speaker(STREAM_LOG, false);
	va_start(ap, fmt);
	int n = vformat(cons_text, NULL, fmt, ap);
	va_end(ap);
	lock_release(&cons.lock);
	return n;
}

void
cons_seize(bool broken)
{
	bool struck = !lock_try(&cons.lock); /* inside a line or frame */

	if (!struck)
		lock_release(&cons.lock);
	if (struck && !cons.seized)
		cons_putc('\n');
	cons.seized = true;
	cons.no_frames |= broken;
	keep_log(true);
	cons_speaker(STREAM_LOG, true);
}

void
panic(const char *fmt, ...)
{
	va_list ap;

	arch_intr_disable();
	/* A panic inside panic() halts at once, without a message. */
	if (__atomic_exchange_n(&cons.panicking, true, __ATOMIC_ACQ_REL))
		run_halt(false);
	cons_seize(true);
	va_start(ap, fmt);
	cons_text(NULL, "panic: ", 7);
	vformat(cons_text, NULL, fmt, ap);
	cons_text(NULL, "\n", 1);
	va_end(ap);
	ksym_backtrace((uintptr_t)__builtin_frame_address(0));
	run_end(EXIT_FAILED);
}
