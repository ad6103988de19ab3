/*
 * A program that leaves running processes behind: the launcher ends them and
 * then checks that nothing of them is left, which is the test.
 */
#include <stdio.h>
#include <unistd.h>

int
main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("TAP version 13\n1..1\n");
	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			/* Grandchildren: one that sleeps, one that runs. */
			if (fork() == 0)
				for (;;)
					pause();
			for (;;)
				__asm__ volatile("");
		}
	}
	printf("ok 1 - left_processes_behind\n");
	return 0;
}
