/*
 * PAPI's presets, by name and by PMU.  Included within events/ and by
 * events/mktables/.
 */
#ifndef EVENTS_PRESET_H
#define EVENTS_PRESET_H

#include "events/events.h"

#define EVENT_PRESETS     103
#define EVENT_PRESET_NAME 8

/* Without `PAPI_`, sorted. */
extern const char event_preset_names[EVENT_PRESETS][EVENT_PRESET_NAME];

/* By name, or -1. */
int event_preset_number(const char *name, enum event_case fold);
/* The first of its rows on the PMU, or NULL; the others are behind it. */
const struct event_preset *event_preset_find(
    const struct events *es, int number);
/* Those of the PMU, *n of them. */
const struct event_preset *event_presets_of(
    const struct events *es, unsigned *n);

/* parse.c: the event of a row. */
void event_preset_spec(const struct events *es, const struct event_preset *pr,
    struct event_spec *sp);

#endif /* EVENTS_PRESET_H */
