/* Version 1's cpc_version(3CPC), cpc_getcpuver(), cpc_strtoevent(), errors. */
#include "../common.h"

#include <string.h>

const char program[] = "v1_names";

struct names {
	char *name[2];
	int count[2];
};

static void
collect(void *arg, int regno, const char *name, uint8_t bits)
{
	struct names *names = arg;

	(void)bits;
	CHECK(regno == 0 || regno == 1);
	if (strcmp(name, EVENT) == 0 || names->name[regno] == NULL)
		names->name[regno] = strdup(name);
	names->count[regno]++;
}

static int errors;

static void
myapp_errfn(const char *fn, const char *fmt, va_list ap)
{
	char text[256];

	if (strcmp(fn, "strtoevent") != 0)
		error("the error is from '%s'", fn);
	vsnprintf(text, sizeof(text), fmt, ap);
	CHECK(text[0] != '\0');
	errors++;
}

int
main(void)
{
	int cpuver;
	char spec[256], *setting, *again;
	cpc_event_t event, event2;
	struct names names = { 0 };

	if (cpc_version(CPC_VER_CURRENT) != CPC_VER_CURRENT)
		error("application:library cpc version mismatch!");
	CHECK(cpc_version(CPC_VER_NONE) != CPC_VER_NONE);
	CHECK(cpc_version(12345) == CPC_VER_NONE);
	if ((cpuver = cpc_getcpuver()) == -1)
		error("no performance counter hardware!");
	if (cpc_access() == -1)
		error("can't access perf counters: %s", strerror(errno));
	CHECK(cpc_getcciname(cpuver) != NULL && cpc_getcpuref(cpuver) != NULL);
	CHECK(cpc_getusage(cpuver) != NULL);
	CHECK(cpc_getcciname(-7) == NULL && cpc_getusage(-7) == NULL);
	CHECK(cpc_getnpic(cpuver) > 0 && cpc_getnpic(cpuver) <= 2);
	cpc_walk_names(-7, 0, &names, collect);
	cpc_walk_names(cpuver, 99, &names, collect);
	CHECK(names.count[0] == 0 && names.count[1] == 0);
	for (uint_t reg = 0; reg < cpc_getnpic(cpuver); reg++)
		cpc_walk_names(cpuver, reg, &names, collect);
	CHECK(names.count[0] > 0 && names.count[1] > 0);

	cpc_seterrfn(myapp_errfn);
	CHECK(cpc_strtoevent(cpuver, "pic0=no_such,pic1=no_such", &event) != 0);
	CHECK(cpc_strtoevent(cpuver, "rubbish=1", &event) != 0);
	CHECK(errors >= 2);
	cpc_seterrfn(NULL);
	snprintf(spec, sizeof(spec), "pic0=%s,pic1=%s", names.name[0],
	    names.name[1]);
	memset(&event, 0xff, sizeof(event));
	if (cpc_strtoevent(cpuver, spec, &event) != 0)
		error("can't measure '%s' on this processor", spec);
	CHECK(event.ce_cpuver == cpuver && event.ce_hrt == 0);
	CHECK(event.ce_pic[0] == 0 && event.ce_pic[1] == 0);
	CHECK((setting = cpc_eventtostr(&event)) != NULL);
	CHECK(cpc_strtoevent(cpuver, setting, &event2) == 0);
	CHECK((again = cpc_eventtostr(&event2)) != NULL);
	CHECK(strcmp(setting, again) == 0);
	free(again);

	free(setting);
	return finish();
}
