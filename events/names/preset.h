/* PAPI's presets, by name and PMU.  Included within events/. */
#pragma once

#include "events/events.h"

#define EVENT_PRESETS     103
#define EVENT_PRESET_NAME 8

/* Without `PAPI_`, sorted. */
extern const char event_preset_names[EVENT_PRESETS][EVENT_PRESET_NAME];

/* The place of a name in event_preset_names[], or -1. */
int event_preset_number(const char *name, enum event_case fold);
/* The first row of a preset on the PMU, or NULL; its others follow. */
const struct event_preset *event_preset_find(
    const struct events *es, int number);
/* All *n rows of the PMU. */
const struct event_preset *event_presets_of(
    const struct events *es, unsigned *n);

/* parse.c: the event of a row. */
void event_preset_spec(const struct events *es, const struct event_preset *pr,
    struct event_spec *sp);
