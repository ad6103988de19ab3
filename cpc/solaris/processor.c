/* Processors: <sys/processor.h>. */
#define _GNU_SOURCE /* sched_getcpu() */
#include <sys/processor.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/barecpc.h>
#include <sys/utsname.h>
#include <unistd.h>

int
processor_bind(idtype_t idtype, id_t id, processorid_t cpu, processorid_t *old)
{
	return (int)syscall(BARECPC_SYS_SCHED, BARECPC_SCHED_BIND, (long)idtype,
	    (long)(int)id, (long)cpu, old);
}

int
p_online(processorid_t cpu, int state)
{
	return (int)syscall(
	    BARECPC_SYS_SCHED, BARECPC_SCHED_ONLINE, (long)cpu, (long)state);
}

/* The ticks of a second, from /dev/machine; 0: unknown. */
static uint64_t
tick_hz(void)
{
	static const char key[] = "\"tick_hz\":";
	char text[4096];
	int fd = open("/dev/machine", O_RDONLY);

	if (fd == -1)
		return 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *at = strstr(text, key);
	return at != NULL ? strtoull(at + sizeof key - 1, NULL, 10) : 0;
}

int
processor_info(processorid_t cpu, processor_info_t *info)
{
	struct utsname name;
	int state = p_online(cpu, P_STATUS);

	if (state == -1)
		return -1;
	if (info == NULL) {
		errno = EFAULT;
		return -1;
	}
	uname(&name);
	memset(info, 0, sizeof *info);
	info->pi_state = state;
	info->pi_clock = (int)(tick_hz() / 1000000);
	snprintf(info->pi_processor_type, PI_TYPELEN, "%.15s", name.machine);
	return 0;
}

processorid_t
getcpuid(void)
{
	return sched_getcpu();
}
