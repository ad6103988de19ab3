/*
 * The machine virt with CPUs of two models
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "qemu/osdep.h"
#include "libqtest.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"

static void check_cpu(QTestState *qts, const char *path, bool little,
                      int64_t midr)
{
    QDict *resp;

    g_assert(g_str_has_prefix(path, little ? "/machine/little-cluster/"
                                           : "/machine/big-cluster/"));
    resp = qtest_qmp(qts,
                     "{ 'execute': 'qom-get', 'arguments':"
                     " { 'path': %s, 'property': 'midr' } }",
                     path);
    g_assert_cmphex(qdict_get_int(resp, "return"), ==, midr);
    qobject_unref(resp);
    resp = qtest_qmp(qts,
                     "{ 'execute': 'qom-get', 'arguments':"
                     " { 'path': %s, 'property': 'cntfrq' } }",
                     path);
    g_assert_cmpint(qdict_get_int(resp, "return"), ==, 100000000);
    qobject_unref(resp);
}

/* With three CPUs the upper half is one. */
static void test_two_models(void)
{
    QTestState *qts = qtest_init("-machine virt,little-cpu=cortex-a53 "
                                 "-cpu cortex-a72,cntfrq=100000000 -smp 3");
    QDict *resp = qtest_qmp(qts, "{ 'execute': 'query-cpus-fast' }");
    const QListEntry *e;
    int n = 0;

    QLIST_FOREACH_ENTRY(qdict_get_qlist(resp, "return"), e)
    {
        QDict *cpu = qobject_to(QDict, qlist_entry_obj(e));
        bool little = qdict_get_int(cpu, "cpu-index") == 2;

        check_cpu(qts, qdict_get_str(cpu, "qom-path"), little,
                  little ? 0x410fd034 : 0x410fd083);
        n++;
    }
    g_assert_cmpint(n, ==, 3);
    qobject_unref(resp);
    qtest_quit(qts);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/arm/virt/two-models", test_two_models);
    return g_test_run();
}
