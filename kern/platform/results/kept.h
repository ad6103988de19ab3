/*
 * Memory that keeps a run's console text, with its frames, over a warm reset.
 * Included by kern/platform/results/, which fills it, and by boot/efi/ and
 * payloads/tools/pages.c, which read it later.  The text follows the head.
 *
 * Memory that was never used or lost its power has no magic.  Then the kernel
 * writes the head (kept_start) and the text.  At the end of the run both get
 * checksums (kept_end).  When the results are in files the magic goes away.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEPT_MAGIC "BCKEPT1"
#define KEPT_BYTES (4UL << 20)  /* the head and the text */
#define KEPT_STEP  (16UL << 20) /* a reader looks at its multiples */

/*
 * UEFI variables with the records alone, in the same layout: BarecpcKept00, and
 * so on, of KEPT_VARIABLE bytes each.  The last may be shorter.
 */
#define KEPT_VARIABLE        1024UL
#define KEPT_VARIABLES       32
#define KEPT_VARIABLES_BYTES (KEPT_VARIABLES * KEPT_VARIABLE)
#define KEPT_NAME            13 /* letters of a name */

/* The reserved memory: the text, and room to prepare variables. */
#define KEPT_PLACE (KEPT_BYTES + KEPT_VARIABLES_BYTES)
#define KEPT_VENDOR                                                            \
	{                                                                      \
		0x6d1c2f3b, 0x8e0a, 0x4b57,                                    \
		{                                                              \
			0x9f, 0x64, 0x1b, 0x0f, 0x6c, 0x1d, 0x52, 0xe7         \
		}                                                              \
	}

struct kept_head {
	char kh_magic[8];
	uint64_t kh_at;       /* where it was made, so a copy is no result */
	uint32_t kh_room;     /* bytes of text at most */
	uint32_t kh_bytes;    /* of text */
	uint32_t kh_frames;   /* frames in it with records or the status */
	uint32_t kh_lost;     /* the same, but without room for them */
	uint32_t kh_log_lost; /* other bytes without room */
	uint32_t kh_ended;    /* 1: the run has ended */
	uint32_t kh_text_crc; /* of an ended run */
	uint32_t kh_check;    /* CRC-32 of all fields above */
};

static inline char *
kept_text(const struct kept_head *h)
{
	return (char *)(uintptr_t)(h + 1);
}

/* Begin in `bytes` of memory at physical address at. */
void kept_start(struct kept_head *h, uint64_t at, size_t bytes);
/* The run has ended: the text is complete. */
void kept_end(struct kept_head *h);

/* In the order of what a reader can use. */
enum kept_state {
	KEPT_ABSENT,
	KEPT_DAMAGED, /* a checksum is wrong */
	KEPT_RUNNING,
	KEPT_ENDED,
};

/* The state of what was made at `at` in `bytes` of memory. */
enum kept_state kept_state(
    const struct kept_head *h, uint64_t at, size_t bytes);

struct kept_count {
	unsigned kc_frames; /* with records or the status */
	bool kc_status;     /* there is a status */
};

/*
 * Copy the records in console text to `to`, each as a line, as
 * `scripts/barecpc run --results` does.  `to` has room for the text.  Returns
 * their bytes, or -1 if a frame is damaged.
 */
long kept_lines(const char *text, size_t bytes, char *to, struct kept_count *n);

/*
 * Copy the records of an ended run to `to`.  `to` has kh_bytes of room.
 * Returns their bytes, or -1 with the reason in *why if a frame is damaged or
 * missing.
 */
long kept_records(const struct kept_head *h, char *to, const char **why);

/*
 * Copy the frames of records and of the status to `to`, which has
 * KEPT_VARIABLES_BYTES: an ended run of address 0.  `room` bytes may be filled.
 * Returns the bytes filled, or 0 if they are too many or there is no status.
 */
size_t kept_copy(const struct kept_head *h, struct kept_head *to, size_t room);

/* The name of variable n, with its final NUL. */
void kept_variable_name(unsigned n, uint16_t to[KEPT_NAME + 1]);
