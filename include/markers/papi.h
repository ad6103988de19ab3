/*
 * PAPI's high-level functions, as regions (region.h).  Included by programs
 * written for PAPI 6 or later, which compile unchanged.  Its low-level
 * functions are absent.
 *
 * PAPI, "PAPI-HL": PAPI_hl_region_begin, PAPI_hl_read, PAPI_hl_region_end,
 * PAPI_hl_stop, and the environment variable PAPI_EVENTS.  The results are
 * region.h's table and records, not PAPI's files.
 */
#ifndef MARKERS_PAPI_H
#define MARKERS_PAPI_H

#include <errno.h>
#include <region.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAPI_OK      0
#define PAPI_EINVAL  (-1)
#define PAPI_ENOMEM  (-2)
#define PAPI_ESYS    (-3)
#define PAPI_ENOEVNT (-7)
#define PAPI_ENOTRUN (-9)
#define PAPI_EMISC   (-14)

/* PAPI_EMISC: the region has not begun, or twice.  PAPI_ENOTRUN: this machine
 * cannot count the events. */
static inline int
papi_result_(int result)
{
	if (result == 0)
		return PAPI_OK;
	return errno == EINVAL    ? PAPI_EMISC
	       : errno == ENOMEM  ? PAPI_ENOMEM
	       : errno == ENOTSUP ? PAPI_ENOTRUN
	                          : PAPI_ESYS;
}

static inline int
PAPI_hl_region_begin(const char *region)
{
	return papi_result_(region_begin(region));
}

/* Nothing is kept of the counts until now: the table has the whole region. */
static inline int
PAPI_hl_read(const char *region)
{
	struct region_sums rs;

	return papi_result_(region_read(region, &rs));
}

static inline int
PAPI_hl_region_end(const char *region)
{
	return papi_result_(region_end(region));
}

/* The counters are not needed for anything else, so they keep running. */
static inline int
PAPI_hl_stop(void)
{
	return PAPI_OK;
}

static inline const char *
PAPI_strerror(int code)
{
	switch (code) {
	case PAPI_OK:
		return "No error";
	case PAPI_EINVAL:
		return "Invalid argument";
	case PAPI_ENOMEM:
		return "Insufficient memory";
	case PAPI_ENOTRUN:
		return "This machine cannot count the events";
	case PAPI_EMISC:
		return "The region has not begun, or has begun twice";
	default:
		return "A system call failed";
	}
}

#ifdef __cplusplus
}
#endif

#endif /* MARKERS_PAPI_H */
