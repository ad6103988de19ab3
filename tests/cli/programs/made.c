/*
 * A program that makes its code at run time, for tests/cli/tools/record.py.
 *
 *     made TURNS [NAME]
 *
 * It writes a loop of two instructions a turn to memory and runs it.  With NAME
 * it says so in /tmp/perf-PID.map, as Linux's perf wants it.
 */
#include <payload.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __x86_64__
/* dec %rdi; jnz; ret */
static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
#else
/* subs x0, x0, #1; b.ne; ret */
static const uint32_t code[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#endif

int
main(int argc, char **argv)
{
	void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[40];
	FILE *f;

	if (argc < 2 || made == MAP_FAILED)
		return 2;
	memcpy(made, code, sizeof code);
	payload_isync(made, sizeof code);
	if (mprotect(made, 4096, PROT_READ | PROT_EXEC) == -1)
		return 1;
	if (argc > 2) {
		snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
		if ((f = fopen(path, "w")) == NULL)
			return 1;
		/* The second line replaces the first; the third is no function.
		 */
		fprintf(f, "%lx %zx old\n%lx %zx %s\nrubbish\n",
		    (unsigned long)made, sizeof code, (unsigned long)made,
		    sizeof code, argv[2]);
		fclose(f);
	}
	((void (*)(long))(uintptr_t)made)(atol(argv[1]));
	return 0;
}
