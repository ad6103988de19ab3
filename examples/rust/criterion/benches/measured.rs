//! Criterion with instructions for time.

use barecpc::event::Event;
use barecpc_criterion::Counted;
use criterion::{black_box, BenchmarkId, Criterion};
use std::time::Duration;

fn main() {
    let event = Event::new("PAPI_tot_ins").expect("PAPI_tot_ins");
    // A count does not vary in emulation: few samples are enough.
    let mut criterion = Criterion::default()
        .with_measurement(Counted(event))
        .sample_size(10)
        .nresamples(1000)
        .warm_up_time(Duration::from_millis(5))
        .measurement_time(Duration::from_millis(10))
        .without_plots()
        .configure_from_args();
    let mut group = criterion.benchmark_group("sum");
    for n in [100u64, 200] {
        group.bench_with_input(BenchmarkId::from_parameter(n), &n, |bencher, &n| {
            bencher.iter(|| (0..black_box(n)).fold(0u64, |sum, i| black_box(sum + i)))
        });
    }
    group.finish();
}
