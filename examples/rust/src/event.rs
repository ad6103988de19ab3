//! An event that a thread counts and reads, by `<libcpc.h>`.

use std::{
    ffi::CString,
    os::raw::{c_char, c_int, c_uint, c_void},
    ptr,
};

const CPC_VER_CURRENT: c_int = 2;
const CPC_COUNT_USER: c_uint = 2;

extern "C" {
    fn cpc_open(version: c_int) -> *mut c_void;
    fn cpc_close(cpc: *mut c_void) -> c_int;
    fn cpc_set_create(cpc: *mut c_void) -> *mut c_void;
    fn cpc_set_add_request(
        cpc: *mut c_void, set: *mut c_void, event: *const c_char, preset: u64, flags: c_uint, nattrs: c_uint, attrs: *const c_void,
    ) -> c_int;
    fn cpc_buf_create(cpc: *mut c_void, set: *mut c_void) -> *mut c_void;
    fn cpc_bind_curlwp(cpc: *mut c_void, set: *mut c_void, flags: c_uint) -> c_int;
    fn cpc_set_sample(cpc: *mut c_void, set: *mut c_void, buf: *mut c_void) -> c_int;
    fn cpc_buf_get(cpc: *mut c_void, buf: *mut c_void, index: c_int, value: *mut u64) -> c_int;
}

/// An event that is counted at user privilege in the thread that makes this.  It is bound until the thread ends.
pub struct Event {
    cpc: *mut c_void,
    set: *mut c_void,
    buf: *mut c_void,
    request: c_int,
}

impl Event {
    /// An event by the name that `barecpc list` prints, such as PAPI_tot_ins.
    pub fn new(name: &str) -> Result<Event, std::io::Error> {
        let event = CString::new(name)?;
        // Each call gets what the one before gave.  A failed one leaves the reason in errno, and the handle goes with all that it has.
        unsafe {
            let cpc = cpc_open(CPC_VER_CURRENT);
            let set = if cpc.is_null() { cpc } else { cpc_set_create(cpc) };
            let request = if set.is_null() { -1 } else { cpc_set_add_request(cpc, set, event.as_ptr(), 0, CPC_COUNT_USER, 0, ptr::null()) };
            let buf = if request < 0 { ptr::null_mut() } else { cpc_buf_create(cpc, set) };
            if !buf.is_null() && cpc_bind_curlwp(cpc, set, 0) == 0 {
                return Ok(Event { cpc, set, buf, request });
            }
            let error = std::io::Error::last_os_error();
            cpc_close(cpc);
            Err(error)
        }
    }

    /// The count since new(), in the thread that called it.
    pub fn now(&self) -> u64 {
        let mut value = 0;
        let good = unsafe {
            cpc_set_sample(self.cpc, self.set, self.buf) == 0 && cpc_buf_get(self.cpc, self.buf, self.request, &mut value) == 0
        };
        assert!(good, "the event is counted in the thread that made it: {}", std::io::Error::last_os_error());
        value
    }
}
