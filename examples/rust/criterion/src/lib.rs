//! Criterion's `Measurement`: it counts an event of the calling thread, in place of time.

use barecpc::event::Event;
use criterion::{
    measurement::{Measurement, ValueFormatter},
    Throughput,
};

pub struct Counted(pub Event);

impl Measurement for Counted {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        self.0.now()
    }
    fn end(&self, before: u64) -> u64 {
        self.0.now() - before
    }
    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }
    fn zero(&self) -> u64 {
        0
    }
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        &Counts
    }
}

struct Counts;

impl ValueFormatter for Counts {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "counts"
    }
    fn scale_throughputs(&self, _: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        let (n, unit) = match *throughput {
            Throughput::Bytes(n) => (n, "counts/byte"),
            Throughput::Elements(n) => (n, "counts/element"),
        };
        values.iter_mut().for_each(|value| *value /= n as f64);
        unit
    }
    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "counts"
    }
}
