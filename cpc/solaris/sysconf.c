/* sysconf(3C) of CPUs: <unistd.h>.  Processor bindings change no answer. */
#include <unistd.h>

#include <errno.h>
#include <sys/processor.h>

#undef sysconf

/* The number of CPUs with this state, or of all. */
static long
count_cpus(int state)
{
	long n = 0;
	int is, saved = errno;

	for (processorid_t cpu = 0; (is = p_online(cpu, P_STATUS)) != -1; cpu++)
		n += state == 0 || is == state;
	errno = saved;
	return n;
}

long
barecpc_sysconf(int name)
{
	switch (name) {
	case _SC_NPROCESSORS_CONF:
	case _SC_NPROCESSORS_MAX:
		return count_cpus(0);
	case _SC_NPROCESSORS_ONLN:
		return count_cpus(P_ONLINE);
	case _SC_CPUID_MAX:
		return count_cpus(0) - 1;
	default:
		return sysconf(name);
	}
}
