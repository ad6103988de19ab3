/*
 * Prints a line for every name of events that libpfm4's core PMUs have.  The
 * library is the one that it is linked with, which knows the PMUs of the
 * architecture that it was built for.
 *
 *	names codes [PMU]...    `skl INST_RETIRED:ANY_P 0x5300c0 0`: the code,
 *	                        and the value of the extra MSR
 *	names describe          what libpfm4 says of each event and unit mask:
 *	    PMU <tab> EVENT <tab> UNIT MASK or nothing <tab> DESCRIPTION
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib.h>

typedef void print_fn(const char *pmu, const char *event, const char *umask,
    const char *description);

static void
print_code(const char *pmu, const char *event, const char *umask, const char *)
{
	uint64_t *codes = NULL;
	char name[256];
	int n = 0;

	snprintf(name, sizeof name, "%s::%s%s%s", pmu, event,
	    *umask != '\0' ? ":" : "", umask);
	if (pfm_get_event_encoding(name, PFM_PLM0 | PFM_PLM3, NULL, NULL,
		&codes, &n) != PFM_SUCCESS)
		return;
	printf("%s %s %#" PRIx64 " %#" PRIx64 "\n", pmu, strstr(name, "::") + 2,
	    codes[0], n > 1 ? codes[1] : 0);
	free(codes);
}

static void
print_description(
    const char *pmu, const char *event, const char *umask, const char *desc)
{
	if (desc != NULL && *desc != '\0')
		printf("%s\t%s\t%s\t%s\n", pmu, event, umask, desc);
}

static void
print_event(const char *pmu, int event, print_fn *print)
{
	pfm_event_info_t info = { .size = sizeof info };

	if (pfm_get_event_info(event, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return;
	print(pmu, info.name, "", info.desc);
	for (int n = 0; n < info.nattrs; n++) {
		pfm_event_attr_info_t attr = { .size = sizeof attr };

		if (pfm_get_event_attr_info(event, n, PFM_OS_NONE, &attr) ==
			PFM_SUCCESS &&
		    attr.type == PFM_ATTR_UMASK)
			print(pmu, info.name, attr.name, attr.desc);
	}
}

int
main(int argc, char **argv)
{
	print_fn *print = argc > 1 && strcmp(argv[1], "codes") == 0
	                      ? print_code
	                      : print_description;
	int error;

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if ((error = pfm_initialize()) != PFM_SUCCESS)
		errx(1, "libpfm4: %s", pfm_strerror(error));
	for (pfm_pmu_t pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = { .size = sizeof info };
		int wanted = argc <= 2;

		if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS ||
		    info.type != PFM_PMU_TYPE_CORE)
			continue;
		for (int i = 2; i < argc; i++)
			wanted |= strcmp(argv[i], info.name) == 0;
		for (int event = wanted ? info.first_event : -1; event != -1;
		     event = pfm_get_event_next(event))
			print_event(info.name, event, print);
	}
	return fflush(stdout) != 0;
}
