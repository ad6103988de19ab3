/* A record lists each watchdog, and the worst of their states. */
#include "tests/lib/host/support.h"

#include <string.h>

#include "kern/platform/firmware/watchdog.h"
#include "lib/text.h"

static const char *
described(void)
{
	static char said[1000];
	struct text t = { said, sizeof said, 0 };

	said[0] = '\0';
	watchdog_describe(&t);
	return said;
}

TEST(the_worst_state_comes_first)
{
	unsigned n = 0;

	assert_string_equal(described(), "");
	watchdog_found("TCO", WATCHDOG_STOPPED);
	watchdog_found("SBSA", WATCHDOG_IDLE);
	assert_string_equal(described(),
	    "\"watchdog\":\"stopped\",\"watchdogs\":["
	    "{\"kind\":\"TCO\",\"state\":\"stopped\"},"
	    "{\"kind\":\"SBSA\",\"state\":\"idle\"}],");
	watchdog_found("SBSA", WATCHDOG_RUNNING);
	watchdog_found("X", WATCHDOG_UNKNOWN);
	assert_non_null(strstr(described(), "\"watchdog\":\"running\","));
	/* There is no room for more than eight. */
	for (unsigned i = 0; i < 8; i++)
		watchdog_found("last", WATCHDOG_IDLE);
	const char *said = described();
	while ((said = strstr(said, "\"kind\":")) != NULL) {
		said++;
		n++;
	}
	assert_int_equal(n, 8);
}
