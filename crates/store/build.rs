//! Writes the list of migrations. sqlx has a macro for it, which makes cargo build sqlx, tokio and SQLite once more, for the
//! compiler's own use: a fifth of all that is compiled.

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=migrations");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("migrations");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".sql"))
        .collect();
    names.sort();
    let rows: String = names.iter().map(|name| row(&folder, name)).collect();
    let list = format!("const MIGRATIONS: &[(i64, &str, &str)] = &[{rows}];\n");
    fs::write(
        Path::new(&env::var("OUT_DIR").unwrap()).join("migrations.rs"),
        list,
    )
    .unwrap();
}

/// Version and description from the name, and the text.
fn row(folder: &Path, name: &str) -> String {
    let (version, words) = name.trim_end_matches(".sql").split_once('_').unwrap();
    let version: i64 = version.parse().unwrap();
    let path = folder.join(name);
    format!(
        "({version}, {:?}, include_str!({path:?})),",
        words.replace('_', " ")
    )
}
