//! Five benchmarks, each counted once: in emulation a count does not vary.

use barecpc::{count, opaque};
use std::{collections::BTreeMap, fmt::Write};

fn main() {
    let numbers: Vec<u64> = (0..4096u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40).collect();

    let mut sorted = numbers.clone();
    count!("sort", { opaque(&mut sorted).sort_unstable() });
    let hash = count!("fnv1a", {
        opaque(&numbers).iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, n| (hash ^ n).wrapping_mul(0x100_0000_01b3))
    });
    let primes = count!("sieve", {
        let mut composite = vec![false; 10_000];
        (2..composite.len()).filter(|&i| {
            let prime = !composite[i];
            if prime {
                (2 * i..composite.len()).step_by(i).for_each(|multiple| composite[multiple] = true);
            }
            prime
        }).count()
    });
    let tree = count!("btree", {
        opaque(&numbers).iter().map(|&n| (n, ())).collect::<BTreeMap<_, _>>().len()
    });
    let mut text = String::with_capacity(1 << 16);
    count!("format", { opaque(&numbers).iter().take(1000).for_each(|n| write!(text, "{n} ").unwrap()) });
    println!("{} {hash:x} {primes} {tree} {}", sorted[0], text.len());
}
