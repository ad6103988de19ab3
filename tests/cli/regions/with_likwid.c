/* A program for likwid's marker interface. */
#include <stdio.h>

#include "../programs/turns.h"
#include <likwid-marker.h>

#define NUM_EVENTS 20

int
main(void)
{
	double events[NUM_EVENTS] = { 0 }, time = 0;
	int nevents = NUM_EVENTS, count = 0;

	LIKWID_MARKER_INIT;
	LIKWID_MARKER_THREADINIT;
	LIKWID_MARKER_REGISTER("Compute");
	for (int i = 0; i < 4; i++) {
		LIKWID_MARKER_START("Compute");
		make_turns(500);
		LIKWID_MARKER_STOP("Compute");
		LIKWID_MARKER_SWITCH;
	}
	LIKWID_MARKER_GET("Compute", &nevents, events, &time, &count);
	printf("%d events, %d calls, %.0f\n", nevents, count, events[0]);
	LIKWID_MARKER_CLOSE;
	LIKWID_MARKER_START("Late");
	LIKWID_MARKER_STOP("Late");
	return 0;
}
