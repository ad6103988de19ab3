/*
 * A machine with planted properties, as a plugin of QEMU
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 *     -plugin planted.so,machine=FILE   the machine of a file
 *     -plugin planted.so,seed=N       a machine that is drawn
 *             ...,trace=FILE          write what was executed, and when
 *
 * QEMU calls before an instruction, and after each of its accesses to memory.
 * So an instruction is settled by the call before the next one, or earlier if
 * the PMU asks for it.  README.md has the rules of the machine.
 */

#include "core.h"
#include "file.h"
#include "forms.h"

#include <glib.h>
#include <inttypes.h>
#include <qemu-plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* A form that was met, by its bytes */
struct known {
    struct planted_form form;
    const char *name;
    unsigned class;
    char text[FORMS_TEXT]; /* key of the costs */
    unsigned number;       /* in the trace */
    bool repeats;          /* it is a string instruction */
};

/* An instruction at a place: no bytes between them, as it is a key */
struct place {
    const struct known *known;
    uint64_t pc, fetch;
    uint32_t size;
    unsigned mode;
};

/* Registers that x86-64's WRMSR has, as QEMU's handles */
static struct {
    const char *name;
    struct qemu_plugin_register *handle;
} wrmsr_register[] = { { "rcx", NULL }, { "rax", NULL } };

struct vcpu {
    const struct place *at; /* the instruction that is not settled, or NULL */
    struct {
        uint64_t ns, instructions, branches, slots, smis;
    } total;
    uint64_t retired;         /* by this vCPU before it */
    uint64_t charged;         /* by icount, up to it */
    unsigned mode;            /* of the one before */
    bool controls, prefetch;  /* it writes that the prefetcher is on, or off */
    bool any;                 /* there was one before */
    uint64_t ns, rest;        /* planted time; the rest is in 1/mhz ns */
    uint64_t time;            /* ns that it has executed, pauses with them */
    uint64_t due;             /* the time of its next fault */
    unsigned frequency;       /* how many changes it has had */
    uint64_t smi, hypervisor; /* the time of the next pause */
    struct planted_step step;
};

static struct planted_machine machine;
static struct file_faults faults;
static struct planted *planted;
static struct forms *forms;
static struct vcpu vcpu[PLANTED_CPUS];
static GHashTable *known_forms; /* of GBytes, as places */
static GHashTable *places;      /* each once, however often it is translated */
static uint64_t unknown;
static FILE *trace;

static void write_trace(unsigned cpu, const struct vcpu *v)
{
    const struct planted_step *s = &v->step;
    unsigned i;

    fprintf(trace, "%u %" PRIx64 " %" PRIx64 " %u %u%s%s", cpu, s->pc, s->fetch,
            s->size, v->at->known->number, s->waits ? " waits" : "",
            s->taken ? " taken" : "");
    for (i = 0; i < s->accesses; i++) {
        fprintf(trace, " %c%" PRIx64 "+%u", s->access[i].store ? 'w' : 'r',
                s->access[i].address, s->access[i].size);
    }
    fprintf(trace, " = %" PRIu64 "\n",
            *planted_total(planted, cpu, PLANTED_CYCLES));
    if (!s->waits && !s->form->waits) {
        return;
    }
    fprintf(trace, "slots %u", cpu);
    for (i = PLANTED_SLOTS_BAD; i <= PLANTED_STALL; i++) {
        fprintf(trace, " %" PRIu64, *planted_total(planted, cpu, i));
    }
    fprintf(trace, "\n");
}

/* Is a pause due, and when is the next one? */
static bool pause_is_due(const struct file_pause *p, uint64_t time,
                         uint64_t *next)
{
    if (!p->every || time < (*next ? *next : p->first)) {
        return false;
    }
    *next = time + p->every;
    return true;
}

/* Cycles of a CPU pass: the ns */
static inline uint64_t take_time(struct vcpu *v, uint64_t cycles)
{
    uint32_t mhz =
        v->frequency ? faults.frequency[v->frequency - 1].mhz : machine.mhz;
    uint64_t ns = cycles; /* at the usual frequency: no rest */

    if (!cycles) {
        return 0;
    }
    if (mhz != 1000) {
        v->rest += cycles * 1000;
        ns = v->rest / mhz;
        v->rest %= mhz;
    }
    v->total.slots += cycles * machine.width;
    v->total.ns += ns;
    v->time += ns;
    return ns;
}

/* The faults that come after an instruction: the ns that they take */
static uint64_t pass_faults(unsigned cpu, struct vcpu *v)
{
    const struct file_pause *smi = &faults.smi,
                            *hypervisor = &faults.hypervisor;
    uint64_t ns = 0;

    if (pause_is_due(smi, v->time, &v->smi)) {
        ns += take_time(v, planted_pause(planted, cpu, smi->length));
        v->total.smis++;
        if (trace) {
            fprintf(trace, "pause %u %" PRIu64 "\n", cpu, smi->length);
        }
    }
    if (pause_is_due(hypervisor, v->time, &v->hypervisor)) {
        ns += hypervisor->length;
        v->time += hypervisor->length;
    }
    if (v->frequency < faults.frequencies &&
        v->time >= faults.frequency[v->frequency].at) {
        v->frequency++;
        v->rest = 0;
    }
    v->due = smi->every ? v->smi ? v->smi : smi->first : UINT64_MAX;
    if (hypervisor->every) {
        v->due = MIN(v->due, v->hypervisor ? v->hypervisor : hypervisor->first);
    }
    if (v->frequency < faults.frequencies) {
        v->due = MIN(v->due, faults.frequency[v->frequency].at);
    }
    return ns;
}

/* The instruction is over, and pc is the next one.  The ns that time lacks */
static inline int64_t settle(unsigned cpu, struct vcpu *v, uint64_t pc,
                             bool retired)
{
    const struct place *p = v->at;
    struct planted_step *s = &v->step;
    uint64_t cycles, ns;

    s->form = &p->known->form;
    s->pc = p->pc;
    s->fetch = p->fetch;
    s->size = p->size;
    s->taken = pc != p->pc + p->size;
    s->waits = v->any && p->mode != v->mode;
    cycles = planted_step(planted, cpu, s);
    v->total.instructions += retired;
    v->total.branches += retired && s->form->branch;
    if (trace) {
        write_trace(cpu, v);
    }
    if (v->controls && retired) {
        planted_prefetch(planted, cpu, v->prefetch);
        if (trace) {
            fprintf(trace, "prefetch %u %d\n", cpu, v->prefetch);
        }
    }
    v->at = NULL;
    v->mode = p->mode;
    v->any = true;
    ns = take_time(v, cycles);
    return v->time < v->due ? ns : ns + pass_faults(cpu, v);
}

/* Settle an instruction that is over.  The clock follows with the next one. */
static inline void on_settle(unsigned cpu, uint64_t pc, uint64_t retired,
                             uint64_t charged, bool fault)
{
    struct vcpu *v = &vcpu[cpu];
    bool done = retired > v->retired;

    if (!v->at) {
        return;
    }
    if (done && fault && pc == v->at->pc) {
        v->at = NULL;
    } else if (done || (v->at->known->repeats && v->step.accesses &&
                        charged >= v->charged)) {
        /* icount takes a pass back that faults, not one that goes on later. */
        v->ns += settle(cpu, v, pc, done);
    }
}

static int64_t on_begin(unsigned cpu, void *data, uint64_t retired,
                        uint64_t charged)
{
    const struct place *p = data;
    struct vcpu *v = &vcpu[cpu];
    int64_t ns;

    on_settle(cpu, p->pc, retired, charged - 1, false);
    /* icount has added one for each. */
    ns = v->ns - (int64_t)(charged - v->charged);
    v->charged = charged;
    v->ns = 0;
    v->at = p;
    v->retired = retired;
    v->step.accesses = 0;
    v->controls = false;
    return ns;
}

static void on_vcpu(qemu_plugin_id_t id, unsigned cpu)
{
    GArray *all = qemu_plugin_get_registers();
    unsigned i, j;

    (void)id;
    (void)cpu;
    for (i = 0; i < all->len; i++) {
        const qemu_plugin_reg_descriptor *r =
            &g_array_index(all, qemu_plugin_reg_descriptor, i);

        for (j = 0; j < G_N_ELEMENTS(wrmsr_register); j++) {
            if (!strcmp(r->name, wrmsr_register[j].name)) {
                wrmsr_register[j].handle = r->handle;
            }
        }
    }
    g_array_free(all, TRUE);
}

/* MSR_MISC_FEATURE_CONTROL (Intel SDM vol. 4): bit 2 turns L1D's prefetcher of
 * the next line off. */
static void on_wrmsr(unsigned cpu, void *data)
{
    uint32_t value[G_N_ELEMENTS(wrmsr_register)] = { 0 };
    GByteArray *bytes = g_byte_array_new();
    unsigned i;

    (void)data;
    for (i = 0; i < G_N_ELEMENTS(wrmsr_register); i++) {
        g_byte_array_set_size(bytes, 0);
        if (wrmsr_register[i].handle &&
            qemu_plugin_read_register(wrmsr_register[i].handle, bytes) >= 4) {
            memcpy(&value[i], bytes->data, 4);
        }
    }
    g_byte_array_free(bytes, TRUE);
    vcpu[cpu].controls = value[0] == 0x1a4;
    vcpu[cpu].prefetch = !(value[1] & 4);
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
                      void *data)
{
    struct vcpu *v = &vcpu[cpu];
    struct planted_step *s = &v->step;
    struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, vaddr);
    struct planted_access *a;

    (void)data;
    if (!where || qemu_plugin_hwaddr_is_io(where) ||
        s->accesses == PLANTED_ACCESSES) {
        return;
    }
    a = &s->access[s->accesses++];
    a->address = qemu_plugin_hwaddr_phys_addr(where);
    a->size = 1U << qemu_plugin_mem_size_shift(info);
    a->store = qemu_plugin_mem_is_store(info);
}

static void write_registers(const char *what, const uint16_t *r, unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        fprintf(trace, "%s%u", i ? "," : what, r[i]);
    }
}

/* The decoder's facts of an instruction whose bytes are new */
static void write_form(const struct known *k, const uint8_t *bytes,
                       size_t length)
{
    const struct planted_form *f = &k->form;
    size_t i;

    fprintf(trace, "form %u %s class=%s%s%s%s%s%s", k->number,
            k->name ? k->name : "?", planted_class_name[k->class],
            f->conditional ? " conditional" : "", f->waits ? " waits" : "",
            f->idiom ? " idiom" : "", f->moves_only ? " moves-only" : "",
            f->no_work ? " no-work" : "");
    write_registers(" reads=", f->read, f->reads);
    write_registers(" writes=", f->write, f->writes);
    for (i = 0; i < length; i++) {
        fprintf(trace, i ? "%02x" : " bytes=%02x", bytes[i]);
    }
    fprintf(trace, " text=%s\n", k->text);
}

static const struct known *know(const uint8_t *bytes, size_t length)
{
    GBytes *key = g_bytes_new(bytes, length);
    struct known *k = g_hash_table_lookup(known_forms, key);
    unsigned i;

    if (k) {
        g_bytes_unref(key);
        return k;
    }
    k = g_new0(struct known, 1);
    if (!forms_decode(forms, bytes, length, &k->form, &k->name, k->text)) {
        unknown++;
    }
    k->class = k->form.work;
    for (i = 0; i < machine.cost_count; i++) {
        if (!strcmp(machine.costs[i].form, k->text)) {
            k->form.work = PLANTED_CLASSES + i;
        }
    }
    k->number = g_hash_table_size(known_forms);
    k->repeats = length > 1 && (bytes[0] == 0xf3 || bytes[0] == 0xf2 ||
                                bytes[1] == 0xf3 || bytes[1] == 0xf2);
    if (trace) {
        write_form(k, bytes, length);
    }
    g_hash_table_insert(known_forms, key, k);
    return k;
}

static const struct place *find_place(const struct place *p)
{
    GBytes *key = g_bytes_new(p, sizeof(*p));
    GBytes *known = g_hash_table_lookup(places, key);

    if (known) {
        g_bytes_unref(key);
    } else {
        known = key;
        g_hash_table_add(places, known);
    }
    return g_bytes_get_data(known, NULL);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t n = qemu_plugin_tb_n_insns(tb), i;

    (void)id;
    for (i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint8_t bytes[16];
        size_t length = qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
        struct place p = { .size = length };

        p.pc = qemu_plugin_insn_vaddr(insn);
        p.fetch = qemu_plugin_insn_place(p.pc, &p.mode);
        p.known = know(bytes, length);
        qemu_plugin_register_planted_cb(insn, (void *)find_place(&p));
        if (length == 2 && bytes[0] == 0x0f && bytes[1] == 0x30) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_wrmsr,
                                                   QEMU_PLUGIN_CB_R_REGS, NULL);
        }
        qemu_plugin_register_vcpu_mem_cb(
            insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    }
}

static void on_end(qemu_plugin_id_t id, void *data)
{
    char *line = g_strdup_printf("planted: %s, %s, %" PRIu64
                                 " forms that are not known\n",
                                 machine.name, forms_version(), unknown);

    (void)id;
    (void)data;
    qemu_plugin_outs(line);
    g_free(line);
    if (trace && (fflush(trace) || ferror(trace) || fclose(trace))) {
        fprintf(stderr, "planted: the trace could not be written whole\n");
    }
}

static bool read_option(const char *option, char **why)
{
    char *end;

    if (g_str_has_prefix(option, "machine=")) {
        return file_read(option + 8, &machine, &faults, why);
    }
    if (g_str_has_prefix(option, "seed=")) {
        uint64_t seed = strtoull(option + 5, &end, 0);

        if (*end || !option[5]) {
            *why = g_strdup_printf("%s: not a number", option);
            return false;
        }
        file_draw(seed, &machine, &faults);
        return true;
    }
    if (g_str_has_prefix(option, "trace=")) {
        trace = fopen(option + 6, "w");
        if (!trace) {
            *why = g_strdup_printf("%s: the file cannot be written", option);
        }
        return trace != NULL;
    }
    *why = g_strdup_printf("%s: not an option: machine=, seed= and trace= are",
                           option);
    return false;
}

static bool tell_cache(const char *size, const char *ways, const char *line,
                       const struct planted_geometry *g, uint32_t announced)
{
    return qemu_plugin_planted_fact(size, announced ? announced : g->size) &&
           qemu_plugin_planted_fact(ways, g->ways) &&
           qemu_plugin_planted_fact(line, g->line);
}

/* For registers, and the PMU's faults */
static bool tell_facts(void)
{
    const struct planted_machine *m = &machine;
    const uint32_t *a = faults.announced;

    return tell_cache("l1d-size", "l1d-ways", "l1d-line", &m->l1d, a[0]) &&
           tell_cache("l1i-size", "l1i-ways", "l1i-line", &m->l1i, a[1]) &&
           tell_cache("l2-size", "l2-ways", "l2-line", &m->l2, a[2]) &&
           tell_cache("llc-size", "llc-ways", "llc-line", &m->llc, a[3]) &&
           qemu_plugin_planted_fact("width", m->width) &&
           qemu_plugin_planted_fact("late", faults.late) &&
           qemu_plugin_planted_fact("late-seed", faults.late_seed) &&
           qemu_plugin_planted_fact("late-freeze", faults.late_freeze) &&
           qemu_plugin_planted_fact("shared-msrs", faults.shared_msrs);
}

/* The PMU's events: the core's, and those that are counted here */
static bool supply(void)
{
    size_t stride = (const char *)planted_total(planted, 1, 0) -
                    (const char *)planted_total(planted, 0, 0);
    const struct {
        const char *name;
        const uint64_t *first;
    } own[] = { { "NS", &vcpu->total.ns },
                { "INSTRUCTIONS", &vcpu->total.instructions },
                { "BRANCHES", &vcpu->total.branches },
                { "SLOTS", &vcpu->total.slots },
                { "SMIS", &vcpu->total.smis } };
    bool all = qemu_plugin_pmu_supply(
        "SLOTS_RETIRING", planted_total(planted, 0, PLANTED_UOPS), stride);
    unsigned e;

    for (e = 0; e < PLANTED_EVENTS; e++) {
        all &= qemu_plugin_pmu_supply(planted_event_name[e],
                                      planted_total(planted, 0, e), stride);
    }
    for (e = 0; e < G_N_ELEMENTS(own) - !faults.smi.every; e++) {
        all &= qemu_plugin_pmu_supply(own[e].name, own[e].first,
                                      sizeof(struct vcpu));
    }
    return all;
}

static bool set_up(const char *target, int argc, char **argv, char **why)
{
    const char *wrong;
    int i;

    for (i = 0; i < argc; i++) {
        if (!read_option(argv[i], why)) {
            return false;
        }
    }
    if (!machine.name[0]) {
        *why = g_strdup("give machine=FILE or seed=N");
        return false;
    }
    planted = planted_new(&machine, &wrong);
    if (!planted) {
        *why = g_strdup_printf("%s: %s", machine.name, wrong);
        return false;
    }
    /* Time that is controlled refuses migration and snapshots. */
    qemu_plugin_request_time_control();
    forms = forms_new(target);
    if (!forms) {
        *why = g_strdup_printf("no decoder for %s", target);
        return false;
    }
    if (!qemu_plugin_planted_machine(on_begin, on_settle)) {
        *why = g_strdup("a planted machine needs -icount shift=0");
        return false;
    }
    return tell_facts() && supply();
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info, int argc,
                                           char **argv)
{
    char *why = NULL;

    if (!info->system_emulation || info->system.max_vcpus > PLANTED_CPUS) {
        fprintf(stderr, "planted: a machine of at most %d CPUs is needed\n",
                PLANTED_CPUS);
        return -1;
    }
    if (!set_up(info->target_name, argc, argv, &why)) {
        fprintf(stderr, "planted: %s\n",
                why ? why : "the emulator lacks an event of this machine");
        return -1;
    }
    known_forms = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    places = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    if (!strcmp(info->target_name, "x86_64")) {
        qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
