/*
 * The words that the kernel accepts before `--`.  Included by
 * kern/platform/command/cmdline.c, and by boot/efi/efi_cmdline.c, which chooses
 * between two command lines.
 */
#pragma once

#include <stddef.h>

/* All words.  The name of a word ends with `=` or `.`. */
#define WORDS_KNOWN                                                            \
	"output=text|framed priv=user|system cpc_cpu=yes|no "                  \
	"timeout=SECONDS deadline=SECONDS out=/tmp/NAME keep=ram|nvram|no "    \
	"then=off|reboot|run screen=pages|text cpus=N "                        \
	"nmi=count|panic models=any|pmceid|LIST "                              \
	"witness=user|system|both pmu=software pcbe=null "                     \
	"quiet=freq,turbo,cstates,prefetch,smm|all|none "                      \
	"trace=stops checks=poison kernel_limit=N[,PER_PAGE] "                 \
	"test_hooks=yes|no uart=TYPE,ADDRESS[,BAUD] "                          \
	"env.NAME=VALUE host.NAME=VALUE"

enum word_kind {
	WORD_FOREIGN,  /* a word of another system */
	WORD_OURS,     /* one of ours, by its name; its value may be wrong */
	WORD_MISSPELT, /* similar to one of ours */
};

/*
 * Classify a word of len letters.  If it is misspelt, *meant points at the
 * nearest word in WORDS_KNOWN, and *meant_len is its length.
 */
enum word_kind word_kind(
    const char *word, size_t len, const char **meant, size_t *meant_len);
