/* A program that ends while its processes run: the launcher kills them. */
#include <stdio.h>
#include <unistd.h>

static void
sleep_for_ever(void)
{
	for (;;)
		pause();
}

/* One spins: more make emulators of several CPUs very slow. */
static void
run_for_ever(void)
{
	for (;;)
		__asm__ volatile("");
}

int
main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("TAP version 13\n# orphan\n1..1\n");
	for (int i = 0; i < 4; i++) {
		if (fork() != 0)
			continue;
		if (fork() == 0)
			sleep_for_ever();
		if (i == 0)
			run_for_ever();
		sleep_for_ever();
	}
	printf("ok 1 - left_processes_behind\n");
	return 0;
}
