/* Reaches every stop point of the kernel, with a set bound. */
#include <libcpc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *
end_at_once(void *arg)
{
	return arg;
}

static void *
wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void
bind_set(void)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = cpc_set_create(cpc);

	cpc_set_add_request(
	    cpc, set, "PAPI_tot_cyc", 0, CPC_COUNT_USER, 0, NULL);
	if (cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT) != 0)
		exit(99);
}

/* The child of a fork, which inherits no set. */
static void
run_as_child(char **argv, char *how)
{
	char *again[] = { argv[0], how, NULL };

	if (strcmp(how, "exit") == 0)
		exit(3);
	bind_set();
	if (strcmp(how, "exec") == 0)
		execv(argv[0], again);
	abort();
}

static void
run_child(char **argv, char *how)
{
	pid_t pid = fork();

	if (pid == 0)
		run_as_child(argv, how);
	waitpid(pid, NULL, 0);
}

int
main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1)
		return 4; /* after exec */
	bind_set();
	pthread_create(&t, NULL, end_at_once, NULL);
	pthread_join(t, NULL);
	run_child(argv, "exit");
	run_child(argv, "exec");
	run_child(argv, "killed");
	execv("/no/such", argv);
	pthread_create(&t, NULL, wait_for_ever, NULL);
	return 5;
}
