/*
 * describe: print what libpfm4 says of each event and unit mask of its core
 * PMUs, a line each:
 *
 *	PMU <tab> EVENT <tab> UNIT MASK or nothing <tab> DESCRIPTION
 *
 * The library knows the PMUs of the architecture that it was built for.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfmon/pfmlib.h>

static void
print_line(
    const char *pmu, const char *event, const char *umask, const char *desc)
{
	if (desc != NULL && *desc != '\0')
		printf("%s\t%s\t%s\t%s\n", pmu, event, umask, desc);
}

static void
print_event(const char *pmu, int event)
{
	pfm_event_info_t info = { .size = sizeof info };

	if (pfm_get_event_info(event, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return;
	print_line(pmu, info.name, "", info.desc);
	for (int n = 0; n < info.nattrs; n++) {
		pfm_event_attr_info_t attr = { .size = sizeof attr };

		if (pfm_get_event_attr_info(event, n, PFM_OS_NONE, &attr) ==
			PFM_SUCCESS &&
		    attr.type == PFM_ATTR_UMASK)
			print_line(pmu, info.name, attr.name, attr.desc);
	}
}

int
main(void)
{
	int error;

	if ((error = pfm_initialize()) != PFM_SUCCESS)
		errx(1, "libpfm4: %s", pfm_strerror(error));
	for (pfm_pmu_t pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		pfm_pmu_info_t info = { .size = sizeof info };

		if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS ||
		    info.type != PFM_PMU_TYPE_CORE)
			continue;
		for (int event = info.first_event; event != -1;
		     event = pfm_get_event_next(event))
			print_event(info.name, event);
	}
	return fflush(stdout) != 0;
}
