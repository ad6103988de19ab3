// Google Benchmark: parameters, threads and counters.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

static void
BM_sum(benchmark::State &state)
{
	std::vector<int> v(state.range(0), 1);

	for (auto _ : state)
		benchmark::DoNotOptimize(std::accumulate(v.begin(), v.end(), 0));
	state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_sum)->Arg(256)->Arg(1024)->Iterations(100);

static void
BM_threads(benchmark::State &state)
{
	for (auto _ : state)
		benchmark::ClobberMemory();
	state.counters["threads"] = state.threads();
}
BENCHMARK(BM_threads)->Threads(2)->Iterations(100)->UseRealTime();

BENCHMARK_MAIN();
