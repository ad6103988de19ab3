/*
 * The internal interface of version 1 of libcpc.  Included by cpc/v1/ and by
 * tests/host.
 *
 * The kernel sees an event as a bound set of two requests.  No handle is
 * involved.  A bind allocates nothing and takes no lock, so a SIGEMT handler
 * may bind.  All events of a process have one set identity.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <libcpc.h>

#include "events/machine.h"

/* The identity of every event's set.  Version 2 has lower ones. */
#define V1_SET (1ULL << 40)

/* This machine: what a bind needs. */
struct v1_cpu {
	int16_t vc_ver;    /* the cpuver, or -1: no counters */
	uint8_t vc_kind;   /* enum cpc_pmu_kind */
	uint8_t vc_pic[2]; /* the PICs of counters 0 and 1 */
};

/* machine.c: signal-safe. */
struct v1_cpu cpci_v1_cpu(void);
struct v1_cpu cpci_v1_cpu_of(const struct cpc_pmu *pm);
/* Report one line, whose end is in fmt. */
void cpci_v1_report(const char *fn, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* word.c: the words ce_pes.  All kinds of PMU have the same privilege bits. */
#define V1_USR   (1U << 16)
#define V1_OS    (1U << 17)
#define V1_LEVEL (V1_USR | V1_OS)

/*
 * The word of an event on a PIC, which counts at V1_LEVEL bits of `levels`,
 * unless its name says otherwise.  False if the PIC cannot count it, or a word
 * cannot hold it.
 */
bool cpci_v1_word(unsigned kind, unsigned pic, const struct cpc_event *ce,
    uint32_t levels, uint32_t *word);
/* The code of a word's event, as in struct cpc_event. */
uint64_t cpci_v1_code(unsigned kind, uint32_t word);
/* The word of a code and of flags CPC_COUNT_*. */
uint32_t cpci_v1_word_of(unsigned kind, uint64_t code, unsigned flags);
/* The CPC_COUNT_* flags of a word. */
unsigned cpci_v1_flags(uint32_t word);
/* The bits of a word that a number has, as a name of an event. */
uint32_t cpci_v1_number_bits(unsigned kind);

/* spec.c: specifications of events, for any machine. */
int cpci_v1_parse(const struct machine *mc, struct v1_cpu cpu, const char *spec,
    cpc_event_t *event);
char *cpci_v1_print(
    const struct machine *mc, struct v1_cpu cpu, const cpc_event_t *event);
/*
 * The next name after *ml of an event that counter n can count, with its word.
 * False past the last.  Presets of PAPI come last.
 */
struct v1_walk {
	bool vw_generic;
	struct machine_list vw_list;
	char vw_name[CPC_MAX_EVENT_LEN + EVENT_WORD];
	uint32_t vw_word;
};
bool cpci_v1_next(
    const struct machine *mc, struct v1_cpu cpu, int n, struct v1_walk *vw);

/* bind.c: the pack of an event, as the kernel takes it. */
struct v1_pack {
	struct cpc_pack vk_head;
	struct cpc_packreq vk_req[2];
};
/* 0, or an errno.  flags: of the requests, CPC_OVF_NOTIFY_EMT or 0. */
int cpci_v1_pack(
    const cpc_event_t *event, uint32_t flags, struct v1_pack *pack);
/* Sample a set at a target; sets *flags to its bind's.  0, or -1 with errno. */
int cpci_v1_sample(
    cpc_setid_t set, uintptr_t target, cpc_event_t *event, int *flags);
/* 0, or -1 with errno, of a result of the kernel. */
int cpci_v1_result(intptr_t r);
