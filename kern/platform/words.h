/*
 * Which words before `--` are barecpc's.  Included by kern/platform/cmdline.c,
 * and by boot/efi_cmdline.c, which has to choose between two command lines.
 */
#ifndef KERN_PLATFORM_WORDS_H
#define KERN_PLATFORM_WORDS_H

#include <stddef.h>

/* All there are, each as far as its `=` or `.` the name of the word. */
#define WORDS_KNOWN                                                            \
	"output=text|framed priv=user|system cpc_cpu=yes|no "                  \
	"timeout=SECONDS cpus=N nmi=count|panic models=any|pmceid "            \
	"witness=user|system|both pmu=software pcbe=null "                     \
	"trace=stops checks=poison kernel_limit=N[,PER_PAGE] "                 \
	"test_hooks=yes|no env.NAME=VALUE"

enum word_kind {
	WORD_FOREIGN,  /* another system's */
	WORD_OURS,     /* by its name; its value may be wrong */
	WORD_MISSPELT, /* it may have been meant for one of ours */
};

/*
 * What a word of len letters is.  Where it is misspelt, *meant is the one of
 * WORDS_KNOWN that is nearest, and *meant_len its length there.
 */
enum word_kind word_kind(
    const char *word, size_t len, const char **meant, size_t *meant_len);

#endif /* KERN_PLATFORM_WORDS_H */
