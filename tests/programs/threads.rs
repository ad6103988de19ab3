// Threads, channels, collections, a panic that unwinds, and files: what
// Rust's standard library needs of a kernel.
use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::sync::{mpsc, Arc, Barrier, Mutex, RwLock};
use std::time::{Duration, Instant};
use std::{env, fs, panic, process, thread};

fn collatz(mut n: u64) -> u64 {
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

fn main() -> std::io::Result<()> {
    if env::args().nth(1).as_deref() == Some("child") {
        println!("from the child");
        process::exit(3);
    }
    let (sender, receiver) = mpsc::channel();
    let total = Arc::new(Mutex::new(0u64));
    let barrier = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4u64)
        .map(|t| {
            let (sender, total, barrier) = (sender.clone(), total.clone(), barrier.clone());
            thread::spawn(move || {
                barrier.wait();
                let longest = (t * 2500 + 1..=(t + 1) * 2500).map(|n| (collatz(n), n)).max().unwrap();
                *total.lock().unwrap() += longest.0;
                sender.send(longest).unwrap();
            })
        })
        .collect();
    drop(sender);
    let best = receiver.iter().max().unwrap();
    for t in threads {
        t.join().unwrap();
    }
    println!("collatz {:?} sum {}", best, total.lock().unwrap());

    let mut letters = HashMap::new();
    for c in "the quick brown fox jumps over the lazy dog".chars() {
        *letters.entry(c).or_insert(0) += 1;
    }
    let sorted: BTreeMap<_, _> = letters.iter().filter(|(_, &n)| n > 2).collect();
    println!("letters {:?}", sorted);

    panic::set_hook(Box::new(|_| ()));
    let caught = thread::spawn(|| {
        let none: Vec<i32> = vec![];
        none[env::args().count()]
    })
    .join();
    println!("a thread's panic: {}", caught.is_err());
    println!("caught: {}", panic::catch_unwind(|| panic!("on purpose")).is_err());

    let shared = RwLock::new(vec![1, 2, 3]);
    thread::scope(|s| {
        s.spawn(|| shared.write().unwrap().push(4));
        s.spawn(|| shared.write().unwrap().push(4));
    });
    println!("scoped: {:?}", shared.read().unwrap());

    fs::create_dir_all("/tmp/rust/deep")?;
    fs::File::create("/tmp/rust/deep/file")?.write_all(b"written\n")?;
    let mut text = String::new();
    fs::File::open("/tmp/rust/deep/file")?.read_to_string(&mut text)?;
    println!("file: {:?}, {} entries", text, fs::read_dir("/tmp/rust")?.count());
    fs::remove_dir_all("/tmp/rust")?;

    let begin = Instant::now();
    thread::sleep(Duration::from_millis(20));
    println!("slept: {}", begin.elapsed() >= Duration::from_millis(20));
    println!("CPUs: {}", thread::available_parallelism()?);
    // Two pipes, read at the same time.
    let child = process::Command::new(env::current_exe()?).arg("child").output()?;
    println!("child: {:?} {:?}", String::from_utf8_lossy(&child.stdout), child.status.code());
    println!("no program: {:?}", process::Command::new("/none").output().unwrap_err().kind());
    Ok(())
}
