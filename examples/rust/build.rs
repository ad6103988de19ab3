//! Names the folder of libpayload and libcpc to the linker.

use std::{env, path::PathBuf, process::Command};

fn main() {
    let arch = match env::var("CARGO_CFG_TARGET_ARCH").unwrap().as_str() {
        "aarch64" => "arm64",
        _ => "x86_64",
    };
    let tree = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../build").join(arch).join("glibc");
    let installed = || {
        let asked = Command::new("pkg-config").args(["--variable=prefix", "libpayload"]).output().ok()?;
        let prefix = String::from_utf8(asked.stdout).ok()?;
        let libs = PathBuf::from(prefix.trim()).join("lib/barecpc/build").join(arch).join("glibc");
        libs.is_dir().then_some(libs)
    };
    let libs = env::var_os("BARECPC_LIBS").map(PathBuf::from).or_else(installed).unwrap_or(tree);
    if !libs.join("libpayload.a").exists() {
        panic!("{}: no libpayload.a: set BARECPC_LIBS to the folder that has it, or install barecpc", libs.display());
    }
    println!("cargo:rerun-if-env-changed=BARECPC_LIBS");
    println!("cargo:rerun-if-changed={}", libs.display());
    println!("cargo:rustc-link-search=native={}", libs.display());
    println!("cargo:rustc-link-lib=static=payload");
    println!("cargo:rustc-link-lib=static=cpc");
}
