/*
 * The functions of likwid's marker interface, as regions (region.h).  Included
 * by programs written for likwid.  The rest of likwid is absent.
 *
 * likwid, "LIKWID Marker API".  REGION_EVENTS chooses the events, not
 * likwid-perfctr.  The table appears at LIKWID_MARKER_CLOSE.
 */
#ifndef MARKERS_LIKWID_H
#define MARKERS_LIKWID_H

#include <errno.h>
#include <region.h>

#include <likwid-marker.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline int
likwid_result_(int result)
{
	return result == 0 ? 0 : -errno;
}

static inline void
likwid_markerInit(void)
{
}

static inline void
likwid_markerThreadInit(void)
{
}

/* All events are in one group. */
static inline void
likwid_markerNextGroup(void)
{
}

static inline void
likwid_markerClose(void)
{
	region_report();
}

/* The results go to the table and the records. */
static inline int
likwid_markerWriteFile(const char *file)
{
	(void)file;
	return 0;
}

static inline int
likwid_markerRegisterRegion(const char *tag)
{
	return likwid_result_(region_register(tag));
}

static inline int
likwid_markerStartRegion(const char *tag)
{
	return likwid_result_(region_begin(tag));
}

static inline int
likwid_markerStopRegion(const char *tag)
{
	return likwid_result_(region_end(tag));
}

static inline int
likwid_markerResetRegion(const char *tag)
{
	return likwid_result_(region_reset(tag));
}

/* At most *nevents values; *nevents becomes their number.  *time is in s. */
static inline void
likwid_markerGetRegion(
    const char *tag, int *nevents, double *events, double *time, int *count)
{
	struct region_sums rs;

	if (region_read(tag, &rs) == -1)
		rs.rs_nevent = 0, rs.rs_hrtime = 0, rs.rs_times = 0;
	if (*nevents > (int)rs.rs_nevent)
		*nevents = (int)rs.rs_nevent;
	for (int i = 0; i < *nevents; i++)
		events[i] = (double)rs.rs_count[i];
	*time = (double)rs.rs_hrtime / 1e9;
	*count = (int)rs.rs_times;
}

#ifdef __cplusplus
}
#endif

#endif /* MARKERS_LIKWID_H */
