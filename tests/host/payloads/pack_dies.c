/*
 * The program pack on the host: /dev/record is standard output.  It runs this
 * program again, which gives a record, one with a NUL, and ends within the
 * next.  A child of it keeps its pipe.  With an argument /tmp cannot be
 * written. tests/cli/results/packed.py runs it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int temporary(void);

#define main pack_main
#define open(path, ...)                                                        \
	(strcmp(path, "/dev/record") == 0 ? dup(STDOUT_FILENO) : temporary())
#include "payloads/pack/pack.c"
#undef main
#undef open

static const char whole[] = "{\"schema\":1,\"a\":1}\n", cut[] = "{\"cut";
static bool full;

static int
temporary(void)
{
	errno = ENOSPC;
	return full ? -1 : fileno(tmpfile());
}

int
main(int argc, char **argv)
{
	const char *fds = getenv("BARECPC_PACK");
	char *words[] = { argv[0], "-s0", argv[0], NULL };
	char turn;
	int in, out, back;

	full = argc == 2;
	if (fds == NULL)
		return pack_main(3, words);
	if (fork() == 0) {
		close(STDERR_FILENO); /* the test waits for its end */
		return sleep(100) != 0;
	}
	if (sscanf(fds, "%d,%d,%d", &in, &out, &back) != 3)
		return 1;
	for (size_t n = 0; n <= strlen(cut); n += strlen(cut)) {
		if (fork() == 0) /* is killed within its turn, or in front */
			_exit(read(in, &turn, 1) != 1 ||
			      write(out, cut, n) == -1);
		wait(NULL);
	}
	if (read(in, &turn, 1) != 1 || write(out, whole, strlen(whole)) == -1 ||
	    read(in, &turn, 1) != 1 || write(out, cut, sizeof cut) == -1 ||
	    write(out, "\n", 1) == -1 || read(in, &turn, 1) != 1 ||
	    write(out, cut, strlen(cut)) == -1)
		return 1;
	return 3;
}
