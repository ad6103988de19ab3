/*
 * Runs cputrack or cpustat for tests/cli/tools/cputrack.sh, and does something
 * known while the tool runs:
 *
 *     spin TOOL ARG...        spin until it ends
 *     sleep TOOL ARG...       sleep until it ends
 *     interrupt TOOL ARG...   send it SIGINT after 12 s
 *     retire TOOL ARG...      after 10 ms say to the software PMU that 1,000
 *                             instructions of programs have retired on the last
 *                             CPU, and 10,000 of the kernel; end with it
 *
 * The argument PID becomes the number of this process.  The status is the
 * tool's.
 */
#include <libcpc.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/cpc.h>
#include <sys/processor.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two instructions a turn: payloads/common. */
void spin_loop(uint64_t turns);

static volatile bool ended;

static void
note_end(int sig)
{
	(void)sig;
	ended = true;
}

static pid_t
start_tool(char **argv)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof number, "%d", (int)getpid());
	for (char **word = argv; *word != NULL; word++) {
		if (strcmp(*word, "PID") == 0)
			*word = number;
	}
	if ((pid = fork()) == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static void
retire_all(void)
{
	usleep(10000);
	processor_bind(P_LWPID, P_MYID,
	    (processorid_t)sysconf(_SC_NPROCESSORS_CONF) - 1, NULL);
	cpc_syscall(CPC_OP_ADVANCE, 1000, CPC_COUNT_USER, 0, 0);
	cpc_syscall(CPC_OP_ADVANCE, 10000, CPC_COUNT_SYSTEM, 0, 0);
}

int
main(int argc, char **argv)
{
	int status;

	if (argc < 3)
		return 99;
	signal(SIGCHLD, note_end);
	pid_t pid = start_tool(argv + 2);
	if (strcmp(argv[1], "retire") == 0)
		retire_all();
	if (strcmp(argv[1], "interrupt") == 0) {
		sleep(12);
		kill(pid, SIGINT);
	}
	while (strcmp(argv[1], "spin") == 0 && !ended)
		spin_loop(1000);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}
