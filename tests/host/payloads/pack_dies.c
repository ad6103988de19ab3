/*
 * The program pack on the host: /dev/record is standard output.  It runs this
 * program again, which gives a record, and ends within the next one.
 * tests/cli/results/packed.py runs it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define main pack_main
#define open(path, ...)                                                        \
	(strcmp(path, "/dev/record") == 0 ? dup(STDOUT_FILENO)                 \
					  : fileno(tmpfile()))
#include "payloads/pack/pack.c"
#undef main
#undef open

static const char whole[] = "{\"schema\":1,\"a\":1}\n", cut[] = "{\"cut";

int
main(int argc, char **argv)
{
	const char *fds = getenv("BARECPC_PACK");
	char *words[] = { argv[0], argv[0], NULL };
	char answer;
	int in, out;

	if (argc == 1 && fds == NULL)
		return pack_main(2, words);
	if (fds == NULL || sscanf(fds, "%d,%d", &in, &out) != 2 ||
	    write(out, whole, strlen(whole)) == -1 ||
	    read(in, &answer, 1) != 1 || write(out, cut, strlen(cut)) == -1)
		return 1;
	return 3;
}
