/*
 * Machines: read from a file, or drawn from a seed
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * machine.schema.json describes the file.
 */

#define _GNU_SOURCE
#include "file.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file that is read, and the first fault that was found */
struct reader {
    const char *file;
    char *why;
};

static void __attribute__((format(printf, 2, 3)))
complain(struct reader *r, const char *format, ...)
{
    va_list args;
    char *text;

    if (r->why) {
        return;
    }
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) {
        abort();
    }
    va_end(args);
    if (asprintf(&r->why, "%s: %s", r->file, text) < 0) {
        abort();
    }
    free(text);
}

static uint64_t get_number(struct reader *r, json_t *in, const char *at,
                           const char *key)
{
    json_t *n = json_object_get(in, key);

    if (!json_is_integer(n) || json_integer_value(n) < 0 ||
        json_integer_value(n) > UINT32_MAX) {
        complain(r, "%s%s is missing, or is not a whole number from 0 to %u",
                 at, key, UINT32_MAX);
        return 0;
    }
    return json_integer_value(n);
}

static uint64_t get_optional(struct reader *r, json_t *in, const char *at,
                             const char *key, uint64_t absent)
{
    return json_object_get(in, key) ? get_number(r, in, at, key) : absent;
}

static bool get_bool(struct reader *r, json_t *in, const char *at,
                     const char *key)
{
    json_t *value = json_object_get(in, key);

    if (value && !json_is_boolean(value)) {
        complain(r, "%s%s is not true or false", at, key);
    }
    return json_is_true(value);
}

/* An unknown key is a mistake. */
static void check_keys(struct reader *r, json_t *in, const char *at,
                       const char *const *known)
{
    const char *key;
    json_t *value;
    size_t i;

    json_object_foreach(in, key, value)
    {
        for (i = 0; known[i] && strcmp(key, known[i]); i++) {
            continue;
        }
        if (!known[i]) {
            complain(r, "%s%s is not a property of a machine", at, key);
        }
    }
}

static uint32_t get_ports(struct reader *r, json_t *in, const char *at)
{
    json_t *list = json_object_get(in, "ports"), *port;
    uint32_t ports = 0;
    size_t i;

    if (!json_is_array(list)) {
        complain(r, "%sports is missing, or is not a list of numbers", at);
        return 0;
    }
    json_array_foreach(list, i, port)
    {
        if (!json_is_integer(port) || json_integer_value(port) < 0 ||
            json_integer_value(port) >= PLANTED_PORTS) {
            complain(r, "%sports has a port that is not 0 to %d", at,
                     PLANTED_PORTS - 1);
            return 0;
        }
        ports |= 1U << json_integer_value(port);
    }
    return ports;
}

static void get_work(struct reader *r, json_t *in, const char *at,
                     struct planted_work *w)
{
    static const char *const keys[] = { "latency", "busy", "ports", "uops",
                                        NULL };

    check_keys(r, in, at, keys);
    w->latency = get_number(r, in, at, "latency");
    w->busy = get_optional(r, in, at, "busy", 1);
    w->uops = get_optional(r, in, at, "uops", 1);
    w->ports = get_ports(r, in, at);
}

static void get_classes(struct reader *r, json_t *root,
                        struct planted_machine *m)
{
    json_t *classes = json_object_get(root, "classes");
    const char *known[PLANTED_CLASSES + 1] = { NULL };
    unsigned i;

    memcpy(known, planted_class_name, sizeof(planted_class_name));
    check_keys(r, classes, "classes.", known);
    for (i = 0; i < PLANTED_CLASSES; i++) {
        json_t *class = json_object_get(classes, planted_class_name[i]);
        char at[64];

        /* Without a class of its own a move is an addition. */
        if (i == PLANTED_MOVE && !class) {
            m->work[i] = m->work[PLANTED_ALU];
            continue;
        }
        snprintf(at, sizeof(at), "classes.%s.", planted_class_name[i]);
        get_work(r, class, at, &m->work[i]);
    }
}

/* They live as long as the program. */
static void get_costs(struct reader *r, json_t *root, struct planted_machine *m)
{
    json_t *forms = json_object_get(root, "forms"), *form;
    const char *text;

    if (!forms) {
        return;
    }
    if (!json_is_object(forms)) {
        complain(r, "forms is not an object");
        return;
    }
    m->costs = calloc(json_object_size(forms) + 1, sizeof(*m->costs));
    if (!m->costs) {
        abort();
    }
    json_object_foreach(forms, text, form)
    {
        struct planted_cost *cost = &m->costs[m->cost_count++];
        char at[128];

        snprintf(at, sizeof(at), "forms.%s.", text);
        cost->form = strdup(text);
        get_work(r, form, at, &cost->work);
    }
}

/* QLRU's parameters, and their largest values: README.md */
static const char qlru_form[] = "qlru_H.._M._R._U.";
static const uint8_t qlru_most[] = { 2, 1, 3, 2, 3 };

static bool get_qlru(const char *name, uint8_t *qlru)
{
    unsigned i, n = 0;

    for (i = 0; i < sizeof(qlru_form); i++) {
        bool digit = qlru_form[i] == '.';

        if (digit ? name[i] < '0' || name[i] > '0' + qlru_most[n]
                  : name[i] != qlru_form[i]) {
            return false;
        }
        if (digit) {
            qlru[n++] = name[i] - '0';
        }
    }
    return true;
}

static void get_policy(struct reader *r, json_t *in, const char *at,
                       struct planted_geometry *g)
{
    const char *name = json_string_value(json_object_get(in, "policy"));
    unsigned i;

    for (i = 0; name && i < PLANTED_QLRU; i++) {
        if (!strcmp(name, planted_policy_name[i])) {
            g->policy = i;
            return;
        }
    }
    g->policy = PLANTED_QLRU;
    if (!name || !get_qlru(name, g->qlru)) {
        complain(r, "%spolicy is not lru, fifo, plru, random or %s", at,
                 qlru_form);
    }
}

static void get_cache(struct reader *r, json_t *root, const char *name,
                      struct planted_geometry *g, uint32_t *announced)
{
    static const char *const keys[] = { "size",    "ways",   "line",
                                        "latency", "policy", "announced",
                                        NULL };
    json_t *in = json_object_get(root, name);
    char at[64];

    snprintf(at, sizeof(at), "%s.", name);
    check_keys(r, in, at, keys);
    g->size = get_number(r, in, at, "size");
    g->ways = get_number(r, in, at, "ways");
    g->line = get_number(r, in, at, "line");
    g->latency = get_number(r, in, at, "latency");
    get_policy(r, in, at, g);
    *announced = get_optional(r, in, at, "announced", 0);
    if (!r->why && *announced &&
        (!g->ways || !g->line || *announced % ((uint64_t)g->ways * g->line))) {
        complain(r, "%sannounced is not a number of sets of %u lines", at,
                 g->ways);
    }
}

static void get_tlb(struct reader *r, json_t *root, const char *name,
                    struct planted_geometry *g)
{
    static const char *const keys[] = { "entries", "ways", "walk", NULL };
    json_t *in = json_object_get(root, name);
    char at[64];

    snprintf(at, sizeof(at), "%s.", name);
    check_keys(r, in, at, keys);
    g->size = get_number(r, in, at, "entries");
    g->ways = get_number(r, in, at, "ways");
    g->line = 1;
    g->latency = get_number(r, in, at, "walk");
    g->policy = PLANTED_LRU;
}

static bool get_prefetcher(struct reader *r, json_t *root)
{
    json_t *value = json_object_get(root, "prefetcher");
    const char *name = value ? json_string_value(value) : "none";

    if (!name || (strcmp(name, "none") && strcmp(name, "next-line"))) {
        complain(r, "prefetcher is not none or next-line");
        return false;
    }
    return !strcmp(name, "next-line");
}

static void get_pause(struct reader *r, json_t *faults, const char *name,
                      const char *unit, struct file_pause *p)
{
    const char *const keys[] = { "first_us", "every_us", unit, NULL };
    json_t *in = json_object_get(faults, name);
    char at[64];

    if (!in) {
        return;
    }
    snprintf(at, sizeof(at), "faults.%s.", name);
    check_keys(r, in, at, keys);
    p->first = 1000 * get_number(r, in, at, "first_us");
    p->every = 1000 * get_number(r, in, at, "every_us");
    p->length = get_number(r, in, at, unit);
    if (!p->every || p->length > 1000000000) {
        complain(r, "%severy_us is 0, or %s is above 10^9", at, unit);
    }
}

static void get_frequencies(struct reader *r, json_t *faults,
                            struct file_faults *f)
{
    static const char *const keys[] = { "at_us", "mhz", NULL };
    json_t *list = json_object_get(faults, "frequencies"), *in;
    size_t i;

    if (list &&
        (!json_is_array(list) || json_array_size(list) > FILE_FREQUENCIES)) {
        complain(r, "faults.frequencies is not a list of at most %d",
                 FILE_FREQUENCIES);
        return;
    }
    json_array_foreach(list, i, in)
    {
        check_keys(r, in, "faults.frequencies.", keys);
        f->frequency[i].at =
            1000 * get_number(r, in, "faults.frequencies.", "at_us");
        f->frequency[i].mhz = get_number(r, in, "faults.frequencies.", "mhz");
        if (!f->frequency[i].mhz || f->frequency[i].mhz > 10000 ||
            (i && f->frequency[i].at <= f->frequency[i - 1].at)) {
            complain(r, "faults.frequencies: mhz is 1 to 10000, and each "
                        "at_us is above the one before");
        }
    }
    f->frequencies = json_array_size(list);
}

static void get_faults(struct reader *r, json_t *in, struct file_faults *f)
{
    static const char *const keys[] = {
        "late", "late_seed",  "late_freeze", "shared_msrs",
        "smi",  "hypervisor", "frequencies", NULL,
    };

    if (in && !json_is_object(in)) {
        complain(r, "faults is not an object");
    }
    check_keys(r, in, "faults.", keys);
    f->late = get_optional(r, in, "faults.", "late", 0);
    f->late_seed = get_optional(r, in, "faults.", "late_seed", 0);
    f->late_freeze = get_bool(r, in, "faults.", "late_freeze");
    f->shared_msrs = get_bool(r, in, "faults.", "shared_msrs");
    get_pause(r, in, "smi", "cycles", &f->smi);
    get_pause(r, in, "hypervisor", "ns", &f->hypervisor);
    get_frequencies(r, in, f);
}

static void get_machine(struct reader *r, json_t *root,
                        struct planted_machine *m, struct file_faults *f)
{
    const char *name = json_string_value(json_object_get(root, "name"));
    json_t *predictor = json_object_get(root, "predictor");
    static const char *const keys[] = {
        "name",      "mhz",  "width", "port_count", "classes", "l1d",
        "l1i",       "l2",   "llc",   "dtlb",       "itlb",    "memory",
        "predictor", "seed", "forms", "prefetcher", "faults",  NULL,
    };
    static const char *const predictor_keys[] = { "entries", "penalty", NULL };

    check_keys(r, root, "", keys);
    check_keys(r, predictor, "predictor.", predictor_keys);
    if (!name || !*name || strlen(name) >= sizeof(m->name)) {
        complain(r, "name is missing, empty, or longer than %zu characters",
                 sizeof(m->name) - 1);
        return;
    }
    strcpy(m->name, name);
    m->mhz = get_number(r, root, "", "mhz");
    m->width = get_number(r, root, "", "width");
    m->ports = get_number(r, root, "", "port_count");
    get_classes(r, root, m);
    get_costs(r, root, m);
    get_cache(r, root, "l1d", &m->l1d, &f->announced[0]);
    get_cache(r, root, "l1i", &m->l1i, &f->announced[1]);
    get_cache(r, root, "l2", &m->l2, &f->announced[2]);
    get_cache(r, root, "llc", &m->llc, &f->announced[3]);
    get_tlb(r, root, "dtlb", &m->dtlb);
    get_tlb(r, root, "itlb", &m->itlb);
    m->memory = get_number(r, root, "", "memory");
    m->next_line = get_prefetcher(r, root);
    m->entries = get_number(r, predictor, "predictor.", "entries");
    m->penalty = get_number(r, predictor, "predictor.", "penalty");
    m->seed = get_optional(r, root, "", "seed", 1);
    get_faults(r, json_object_get(root, "faults"), f);
}

bool file_read(const char *name, struct planted_machine *m,
               struct file_faults *f, char **why)
{
    struct reader r = { .file = name };
    json_error_t error;
    json_t *root = json_load_file(name, JSON_REJECT_DUPLICATES, &error);

    memset(m, 0, sizeof(*m));
    memset(f, 0, sizeof(*f));
    if (!root) {
        complain(&r, "line %d: %s", error.line, error.text);
    } else {
        get_machine(&r, root, m, f);
        json_decref(root);
    }
    *why = r.why;
    return !r.why;
}

/* splitmix64, which README.md names: a draw is next % choices */
static uint64_t draw(uint64_t *state, uint64_t choices)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return (z ^ z >> 31) % choices;
}

static struct planted_work draw_work(uint64_t *s, uint32_t ports,
                                     uint32_t least, uint32_t most)
{
    struct planted_work w = { .busy = 1, .uops = 1 };

    w.latency = least + draw(s, most - least + 1);
    w.ports = 1 + draw(s, (1U << ports) - 1);
    return w;
}

static struct planted_geometry draw_cache(uint64_t *s, uint32_t log,
                                          uint32_t latency)
{
    struct planted_geometry g = { .line = 64 };
    unsigned i;

    g.size = 1ULL << (log + draw(s, 2));
    g.ways = 4U << draw(s, 3);
    g.policy = draw(s, PLANTED_POLICIES);
    for (i = 0; i < sizeof(g.qlru); i++) {
        g.qlru[i] = draw(s, qlru_most[i] + 1);
    }
    g.latency = latency;
    return g;
}

/* Each fault is there in one machine of four. */
static void draw_faults(uint64_t *s, struct file_faults *f)
{
    uint64_t there = draw(s, 1024);

    memset(f, 0, sizeof(*f));
    if (!(there & 3)) {
        f->late = 1 + draw(s, 200);
        f->late_seed = 1 + draw(s, 1000);
        f->late_freeze = draw(s, 2);
    }
    f->shared_msrs = !(there >> 2 & 3);
    if (!(there >> 4 & 3)) {
        f->smi.first = f->smi.every = 1000 * (1000 + draw(s, 9000));
        f->smi.length = 10000 + draw(s, 90000);
    }
    if (!(there >> 6 & 3)) {
        f->hypervisor.first = f->hypervisor.every =
            1000 * (1000 + draw(s, 9000));
        f->hypervisor.length = 10000 + draw(s, 90000);
    }
    if (!(there >> 8 & 3)) {
        f->frequencies = 1;
        f->frequency[0].at = 1000 * (1000 + draw(s, 100000));
        f->frequency[0].mhz = 500 + draw(s, 1500);
    }
}

void file_draw(uint64_t seed, struct planted_machine *m, struct file_faults *f)
{
    uint64_t s = seed;

    memset(m, 0, sizeof(*m));
    snprintf(m->name, sizeof(m->name), "seed %llu", (unsigned long long)seed);
    m->seed = seed;
    m->mhz = 1000;
    m->width = 2 + draw(&s, 5);
    m->ports = 4 + draw(&s, 5);
    m->work[PLANTED_ALU] = draw_work(&s, m->ports, 1, 1);
    m->work[PLANTED_MUL] = draw_work(&s, m->ports, 3, 5);
    m->work[PLANTED_DIV] = draw_work(&s, m->ports, 12, 40);
    m->work[PLANTED_DIV].busy = m->work[PLANTED_DIV].latency / 2;
    m->work[PLANTED_FP] = draw_work(&s, m->ports, 3, 6);
    m->work[PLANTED_FPDIV] = draw_work(&s, m->ports, 10, 20);
    m->work[PLANTED_FPDIV].busy = m->work[PLANTED_FPDIV].latency / 2;
    m->work[PLANTED_VECTOR] = draw_work(&s, m->ports, 1, 3);
    m->work[PLANTED_BRANCH] = draw_work(&s, m->ports, 1, 1);
    m->work[PLANTED_MOVE] = m->work[PLANTED_ALU];
    m->work[PLANTED_LOAD] = draw_work(&s, m->ports, 0, 0);
    m->work[PLANTED_STORE] = draw_work(&s, m->ports, 1, 1);
    m->work[PLANTED_OTHER] = draw_work(&s, m->ports, 1, 20);
    m->l1d = draw_cache(&s, 14, 3 + draw(&s, 3));
    m->l1i = draw_cache(&s, 15, 3);
    m->l2 = draw_cache(&s, 18, 11 + draw(&s, 8));
    m->llc = draw_cache(&s, 21, 35 + draw(&s, 30));
    m->memory = 150 + draw(&s, 150);
    m->dtlb =
        (struct planted_geometry){ 64ULL << draw(&s, 2), 4, 1, 20, 0, { 0 } };
    m->itlb = (struct planted_geometry){ 64, 4, 1, 20, 0, { 0 } };
    m->next_line = draw(&s, 2);
    m->entries = 256U << draw(&s, 4);
    m->penalty = 8 + draw(&s, 13);
    draw_faults(&s, f);
}
