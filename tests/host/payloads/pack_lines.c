/*
 * Packs the lines of stdin as the program pack does: a line that begins with {
 * is a record, others are text.  tests/cli/results/packed.py runs it.  Prints
 * each frame as a line.  The arguments are the bytes that the console keeps,
 * and after how many records to send them; 0: when a block is full.
 */
#include <stdio.h>
#include <stdlib.h>

#include "payloads/pack/pack.h"

static void
send_frame(const char *frame, size_t n)
{
	fwrite(frame, 1, n, stdout);
}

int
main(int argc, char **argv)
{
	struct pack p;
	char *line = NULL;
	size_t room = 0;
	unsigned long each;
	ssize_t n;

	if (argc != 3)
		return 2;
	each = strtoul(argv[2], NULL, 10);
	pack_start(&p, strtoul(argv[1], NULL, 10), send_frame);
	while ((n = getline(&line, &room, stdin)) > 0) {
		if (*line != '{') {
			pack_text(&p, line, (size_t)n);
			continue;
		}
		pack_record(&p, line, (size_t)n);
		if (each != 0 && p.pck_records % each == 0)
			pack_flush(&p);
	}
	free(line);
	fprintf(stderr, "%u\n", pack_end(&p));
	return 0;
}
