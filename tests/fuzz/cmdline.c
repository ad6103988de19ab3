/* A command line is accepted, or refused with one line; words do not grow. */
#include "tests/fuzz/fuzz.h"

#include "kern/platform/command/cmdline.h"

static bool
is_one_line(const char *s)
{
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < ' ')
			return false;
	}
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = malloc(n + 1), err[256] = "";
	struct cmdline cl;

	memcpy(text, data, n);
	text[n] = '\0';
	if (cmdline_parse(text, &cl, err, sizeof err) == 0) {
		size_t bytes = 0;

		for (unsigned i = 0; i < cl.cl_argc; i++)
			bytes += strlen(cl.cl_argv[i]) + 1;
		for (unsigned i = 0; i < cl.cl_nenv; i++)
			bytes += strlen(cl.cl_env[i]) + 1;
		CHECK(bytes <= n + 1);
		CHECK(cl.cl_argv[cl.cl_argc] == NULL);
		CHECK(cl.cl_env[cl.cl_nenv] == NULL);
		CHECK(is_one_line(cl.cl_foreign));
		free(cl.cl_env);
	} else {
		CHECK(err[0] != '\0' && is_one_line(err));
	}
	free(text);
	return 0;
}
