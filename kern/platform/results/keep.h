/*
 * Keeps the console's text and records for the boot after this run.  Included
 * by kern/main.c, the console, and arch/ for the end of a run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bootinfo;

/* Begin, if the boot protocol reserved memory for it (bi_keep). */
void keep_start(const struct bootinfo *bi);
/* Is anything kept? */
bool keep_active(void);
/* The console, under its lock, keeps each character that it sends. */
void keep_putc(int c);
/*
 * The next characters are a frame of n bytes.  A frame is kept whole or not at
 * all.  `record`: it has a record or the status, for which half of the memory
 * is reserved.
 */
void keep_frame(bool record, size_t n);
/* The next characters are the log; all: without leaving room for records. */
void keep_log(bool all);
/* Copy up to n bytes of kept text from offset `from`; returns how many. */
size_t keep_text(size_t from, char *to, size_t n);
/* Is there a record in it? */
bool keep_has_records(void);
/*
 * All frames are out.  Keep the records in UEFI variables, too, if the boot
 * protocol found room for them (bi_keep_variables).
 */
void keep_variables(void);
/* The closing line is out.  Nothing that comes after it is kept. */
void keep_end(void);
/*
 * Start the machine again, so that the boot protocol's code writes the results
 * to files.  Called by arch_halt() before it powers off.  Returns false if
 * nothing is kept, and true if only another kind of reset can do it.
 */
bool keep_restart(void);
