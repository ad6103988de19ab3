//! Exact counts of parts of a program that runs in barecpc, by `<region.h>` and `<libcpc.h>`.
//!
//! ```ignore
//! let sum = barecpc::count!("sum", { (0..1000u64).sum::<u64>() });
//! ```
//!
//! At the program's exit a table has a row for each region, thread and event, and each row leaves a record.  The
//! environment variable `REGION_EVENTS` names the events (`PAPI_tot_ins,PAPI_tot_cyc`); `region.h` is the manual.

use std::os::raw::{c_char, c_int};

#[doc(hidden)]
pub mod sys {
    use super::*;

    extern "C" {
        pub fn region_begin(name: *const c_char) -> c_int;
        pub fn region_end(name: *const c_char) -> c_int;
    }
}

pub mod event;

/// Counts the events of a block as the region `$name`, a literal.  Its value is the block's.
///
/// A block that is left by `return`, `break` or `?` does not end its region, so the region is not counted.
#[macro_export]
macro_rules! count {
    ($name:literal, $block:block) => {{
        let name = concat!($name, "\0").as_ptr().cast();
        // The name is a literal with its NUL.  A failure is reported on standard error, and the row says it.
        unsafe { $crate::sys::region_begin(name) };
        let value = $block;
        unsafe { $crate::sys::region_end(name) };
        value
    }};
}

/// The value, of which the compiler knows nothing any more: std::hint::black_box() of Rust 1.66.
pub fn opaque<T>(value: T) -> T {
    // A copy by a volatile read; the original is not dropped.
    let copy = unsafe { std::ptr::read_volatile(&value) };
    std::mem::forget(value);
    copy
}
