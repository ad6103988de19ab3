/*
 * Keeps the console's text and records in memory that a warm reset leaves
 * alone.  boot/efi_kept.c writes them to files in the next boot.
 */
#include "kern/platform/keep.h"

#include <stdint.h>

#include "kern/arch.h"
#include "kern/platform/bootinfo.h"
#include "kern/platform/efirt.h"
#include "kern/platform/kept.h"
#include "lib/printf.h"

#define FRAME_LINES 160 /* bytes of a frame's first and last line, at most */

static struct {
	struct kept_head *head; /* NULL: nothing is kept */
	char *text;
	uint32_t limit; /* bytes of text that the present stream may fill */
} keep;

void
keep_start(const struct bootinfo *bi)
{
	if (bi->bi_keep == 0)
		return;
	keep.head = pa_to_va(bi->bi_keep);
	kept_start(keep.head, bi->bi_keep, bi->bi_keep_bytes);
	keep.text = kept_text(keep.head);
	keep_log(false);
}

void
keep_putc(int c)
{
	struct kept_head *h = keep.head;

	if (h == NULL)
		return;
	if (h->kh_bytes < keep.limit)
		keep.text[h->kh_bytes++] = (char)c;
	else
		h->kh_log_lost++;
}

void
keep_log(bool all)
{
	if (keep.head != NULL)
		keep.limit = keep.head->kh_room / (all ? 1 : 2);
}

void
keep_frame(bool record, size_t n)
{
	struct kept_head *h = keep.head;

	if (h == NULL)
		return;
	keep_log(record);
	/* Eight bytes may become nine. */
	if (h->kh_bytes > keep.limit ||
	    n / 8 * 9 + FRAME_LINES > keep.limit - h->kh_bytes) {
		keep.limit = 0;
		h->kh_lost += record;
	} else {
		h->kh_frames += record;
	}
}

void
keep_end(void)
{
	struct kept_head *h = keep.head;

	if (h == NULL)
		return;
	kept_end(h);
	/* A reset drops what is only in caches. */
	arch_clean(h, sizeof *h + h->kh_bytes);
}

bool
keep_restart(void)
{
	if (keep.head == NULL)
		return false;
	efi_restart();
	return true;
}
