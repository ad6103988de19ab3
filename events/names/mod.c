/* The names of modifiers.  The table generator uses them, too. */
#include "events/events.h"

const char *const event_mod_names[MOD_N] = {
	[MOD_K] = "k",
	[MOD_U] = "u",
	[MOD_E] = "e",
	[MOD_I] = "i",
	[MOD_C] = "c",
	[MOD_T] = "t",
	[MOD_LDLAT] = "ldlat",
	[MOD_INTX] = "intx",
	[MOD_INTXCP] = "intxcp",
	[MOD_H] = "h",
	[MOD_G] = "g",
	[MOD_HV] = "hv",
	[MOD_CMPL] = "cmpl",
	[MOD_THR] = "thr",
};
