/* sysinfo(2) of Solaris and illumos, from uname(2): <sys/systeminfo.h>. */
#include <sys/systeminfo.h>

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

static const char *
answer(int command, const struct utsname *name)
{
	switch (command) {
	case SI_SYSNAME:
		return name->sysname;
	case SI_HOSTNAME:
		return name->nodename;
	case SI_RELEASE:
		return name->release;
	case SI_VERSION:
	case SI_HW_PROVIDER:
	case SI_PLATFORM:
		return name->version;
	case SI_MACHINE:
	case SI_ARCHITECTURE:
	case SI_ARCHITECTURE_64:
	case SI_ISALIST:
		return name->machine;
	default:
		return NULL;
	}
}

int
barecpc_sysinfo(int command, char *buf, long count)
{
	struct utsname name;
	const char *text;
	size_t bytes, n;

	uname(&name);
	if ((text = answer(command, &name)) == NULL || count < 0) {
		errno = EINVAL;
		return -1;
	}
	bytes = strlen(text) + 1;
	if (count > 0) {
		n = bytes < (size_t)count ? bytes : (size_t)count;
		memcpy(buf, text, n - 1);
		buf[n - 1] = '\0';
	}
	return (int)bytes;
}
