/* The target of tools on the build machine, whose own CPU does not matter. */
#include "payloads/common/target.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "payloads/common/usage.h"

const struct event_db *const *
target_tables(void)
{
	static char folder[4096];
	ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 32);

	if (n < 0)
		fail(1, "/proc/self/exe: %s", strerror(errno));
	folder[n] = '\0';
	strcpy(strrchr(folder, '/'), "/../events");
	return events_files(folder);
}

const char *
target_cpu(void)
{
	return NULL;
}

int
target_list(
    bool (*)(const char *name, const char *pattern), const char *pattern)
{
	(void)pattern;
	return -1;
}

int
target_fits(char *)
{
	usage_mistake("on which CPU? --cpu NAME");
}
