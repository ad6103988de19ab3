/* There are no model-specific registers on arm64. */
#include "payloads/nb/nb.h"

bool
nb_msr_read(struct nb_msr *)
{
	return false;
}

bool
nb_msr_write(const struct nb_msr *)
{
	return false;
}
