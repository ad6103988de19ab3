/* Version 1: arithmetic on events. */
#include <libcpc.h>

static void
add_values(cpc_event_t *event, const cpc_event_t *other, uint64_t sign)
{
	event->ce_tsc += sign * other->ce_tsc;
	event->ce_pic[0] += sign * other->ce_pic[0];
	event->ce_pic[1] += sign * other->ce_pic[1];
}

void
cpc_event_accum(cpc_event_t *accum, cpc_event_t *event)
{
	if (accum == NULL || event == NULL)
		return;
	if (accum->ce_hrt < event->ce_hrt)
		accum->ce_hrt = event->ce_hrt;
	add_values(accum, event, 1);
}

void
cpc_event_diff(cpc_event_t *diff, cpc_event_t *left, cpc_event_t *right)
{
	if (diff == NULL || left == NULL || right == NULL)
		return;
	cpc_event_t result = *left;
	add_values(&result, right, UINT64_MAX); /* -1 modulo 2^64 */
	*diff = result;
}
