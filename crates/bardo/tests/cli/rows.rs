//! Rows of the laboratory and of a life, as others read them: pandas and DuckDB take the Parquet files as they are, and find in
//! them what stands in the JSON lines.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Tent, text};

/// Reads every table of a folder three ways and says what it found.
const READS: &str = r#"
import json, os, pathlib, sys, duckdb, pandas
for file in sorted(pathlib.Path(sys.argv[1]).glob("*.parquet")):
    lines = [json.loads(line) for line in file.with_suffix(".jsonl").open()]
    frame, csv = pandas.read_parquet(file), pandas.read_csv(file.with_suffix(".csv"))
    count, = duckdb.sql(f"select count(*) from '{file}'").fetchone()
    assert len(lines) == len(frame) == len(csv) == count > 0, (file, len(lines), len(frame), len(csv), count)
    assert set(frame.columns) == set(csv.columns) == set(lines[0]), file
    for name in frame.columns:
        told = [None if pandas.isna(value) else value for value in frame[name].tolist()]
        assert told == [line[name] for line in lines], (file, name)
    print(file.stem, count, ",".join(frame.columns), flush=True)
# All is read; what the libraries' threads do at the end of an interpreter is not what is tested here.
os._exit(0)
"#;

fn read(folder: &Path) -> Option<String> {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|_| Path::new(&std::env::var("HOME").unwrap()).join(".cache"));
    let python = cache.join("bardo/rows/bin/python");
    if !python.exists() {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "there is nobody to read rows");
        eprintln!("skipped: nobody reads rows here; `pip install duckdb pandas pyarrow`");
        return None;
    }
    let told = Command::new(python).args(["-c", READS]).arg(folder).output().unwrap();
    assert!(told.status.success(), "{}", text(&told.stderr));
    Some(text(&told.stdout))
}

#[test]
fn pandas_and_duckdb_read_what_lives_and_lines_came_to() {
    let tent = Tent::new();
    let folder = |name: &str| tent.folder.path().join(name);
    let path = |name: &str| folder(name).to_str().unwrap().to_owned();
    tent.ok(["lab", "lives", "--lives", "3", "--most-ticks", "600", "--note-every", "100", "--rows", &path("lives")]);
    let Some(told) = read(&folder("lives")) else { return };
    assert!(told.starts_with("lives 3 arm,path,cause,ticks,fitness,skill,return"), "{told}");
    assert!(told.contains("notes 18 arm,path,tick,fitness,skill"), "{told}");
    tent.ok(["lab", "lineages", "--lives", "2", "--generations", "2", "--most-ticks", "800", "--rows", &path("lines")]);
    let told = read(&folder("lines")).unwrap();
    assert!(told.starts_with("lines 10 way,path,early,skill"), "{told}");
}

#[test]
fn every_claim_of_a_life_is_a_row() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "7"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    let folder = tent.folder.path().join("claims");
    let told = tent.ok(["golem", "export", "ada", "--claims", folder.to_str().unwrap()]);
    let lines = std::fs::read_to_string(folder.join("claims.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Four domains at every look, and only what is still to come has no answer.
    assert!(rows.len() > 1_000, "{told}");
    let open = rows.iter().filter(|row| row["actual"].is_null()).count();
    assert!((50..150).contains(&open), "{open}");
    assert!(rows.iter().all(|row| row["due_ms"].as_u64() > row["made_ms"].as_u64()));
    let Some(told) = read(&folder) else { return };
    assert!(told.starts_with(&format!("claims {} domain,made_ms,due_ms,said,naive,actual", rows.len())), "{told}");
}
