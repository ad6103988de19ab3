/*
 * likwid's macros for regions.  Included by programs written for likwid, which
 * compile unchanged.  Without LIKWID_PERFMON the macros do nothing.
 *
 * likwid, "LIKWID Marker API".
 */
#ifndef MARKERS_LIKWID_MARKER_H
#define MARKERS_LIKWID_MARKER_H

#ifdef LIKWID_PERFMON
#include <likwid.h>
#define LIKWID_MARKER_INIT             likwid_markerInit()
#define LIKWID_MARKER_THREADINIT       likwid_markerThreadInit()
#define LIKWID_MARKER_SWITCH           likwid_markerNextGroup()
#define LIKWID_MARKER_REGISTER(tag)    likwid_markerRegisterRegion(tag)
#define LIKWID_MARKER_START(tag)       likwid_markerStartRegion(tag)
#define LIKWID_MARKER_STOP(tag)        likwid_markerStopRegion(tag)
#define LIKWID_MARKER_RESET(tag)       likwid_markerResetRegion(tag)
#define LIKWID_MARKER_CLOSE            likwid_markerClose()
#define LIKWID_MARKER_WRITE_FILE(file) likwid_markerWriteFile(file)
#define LIKWID_MARKER_GET(tag, nevents, events, time, count)                   \
	likwid_markerGetRegion(tag, nevents, events, time, count)
#else
#define LIKWID_MARKER_INIT
#define LIKWID_MARKER_THREADINIT
#define LIKWID_MARKER_SWITCH
#define LIKWID_MARKER_REGISTER(tag)
#define LIKWID_MARKER_START(tag)
#define LIKWID_MARKER_STOP(tag)
#define LIKWID_MARKER_RESET(tag)
#define LIKWID_MARKER_CLOSE
#define LIKWID_MARKER_WRITE_FILE(file)
#define LIKWID_MARKER_GET(tag, nevents, events, time, count)
#endif

#endif /* MARKERS_LIKWID_MARKER_H */
