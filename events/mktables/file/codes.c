/*
 * codes [PMU]...: print libpfm4's codes of every name of these PMUs, or of all
 * core PMUs, a line each: `skl INST_RETIRED:ANY_P 0x5300c0 0`.  The last number
 * is the value of the extra MSR.  The library is the one that it is linked
 * with.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib.h>

static void
print_code(const char *pmu, const char *event, const char *umask)
{
	uint64_t *codes = NULL;
	char name[256];
	int n = 0;

	snprintf(name, sizeof name, "%s::%s%s%s", pmu, event,
	    umask != NULL ? ":" : "", umask != NULL ? umask : "");
	if (pfm_get_event_encoding(name, PFM_PLM0 | PFM_PLM3, NULL, NULL,
		&codes, &n) != PFM_SUCCESS)
		return;
	printf("%s %s %#" PRIx64 " %#" PRIx64 "\n", pmu, strstr(name, "::") + 2,
	    codes[0], n > 1 ? codes[1] : 0);
	free(codes);
}

static void
print_event(const char *pmu, int event)
{
	pfm_event_info_t info = { .size = sizeof info };

	if (pfm_get_event_info(event, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return;
	print_code(pmu, info.name, NULL);
	for (int n = 0; n < info.nattrs; n++) {
		pfm_event_attr_info_t attr = { .size = sizeof attr };

		if (pfm_get_event_attr_info(event, n, PFM_OS_NONE, &attr) ==
			PFM_SUCCESS &&
		    attr.type == PFM_ATTR_UMASK)
			print_code(pmu, info.name, attr.name);
	}
}

int
main(int argc, char **argv)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		errx(1, "libpfm4 cannot be initialized");
	for (pfm_pmu_t pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = { .size = sizeof info };
		int wanted = argc == 1;

		if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS ||
		    info.type != PFM_PMU_TYPE_CORE)
			continue;
		for (int i = 1; i < argc; i++)
			wanted |= strcmp(argv[i], info.name) == 0;
		if (!wanted)
			continue;
		for (int event = info.first_event; event != -1;
		     event = pfm_get_event_next(event))
			print_event(info.name, event);
	}
	return fflush(stdout) != 0;
}
