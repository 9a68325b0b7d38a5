//! Which module of a crate needs which, read off its `use` lines and paths. A file is a module. A facade is seen through:
//! what it only passes on counts as taken from where it is, so nothing is hidden by passing it on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::floors::Needs;
use super::source::{bare, without_tests};

type Module = Vec<String>;
type Names = BTreeMap<String, Module>;

pub(crate) struct Rooms {
    /// Each module, and its source.
    modules: BTreeMap<Module, String>,
    /// What each module passes on from elsewhere, by the name it has there.
    passed_on: BTreeMap<Module, Names>,
}

/// One name that a module takes in.
struct Use {
    path: Module,
    name: String,
    public: bool,
}

impl Rooms {
    /// The modules of a crate, tests left out.
    pub(crate) fn of(sources: impl IntoIterator<Item = (Module, String)>) -> Rooms {
        let (mut modules, mut for_tests) = (BTreeMap::new(), Vec::new());
        for (module, source) in sources {
            let (source, tests) = without_tests(&bare(&source));
            for_tests.extend(tests.into_iter().map(|name| [&module[..], &[name]].concat()));
            modules.insert(module, source);
        }
        modules.retain(|module, _| !for_tests.iter().any(|test| module.starts_with(test)));
        let mut rooms = Rooms { modules, passed_on: BTreeMap::new() };
        for (module, source) in &rooms.modules {
            let public = uses(source).into_iter().filter(|one| one.public);
            let names = public.filter_map(|one| Some((one.name, rooms.absolute(&one.path, module)?))).collect();
            rooms.passed_on.insert(module.clone(), names);
        }
        rooms
    }

    pub(crate) fn read(src: &Path, files: impl IntoIterator<Item = std::path::PathBuf>) -> Rooms {
        Rooms::of(files.into_iter().map(|path| {
            let mut module: Module = path
                .strip_prefix(src)
                .unwrap()
                .with_extension("")
                .iter()
                .map(|part| part.to_string_lossy().into())
                .collect();
            if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                module.pop();
            }
            (module, fs::read_to_string(&path).unwrap())
        }))
    }

    /// Modules that need each other, each circle with its arrows; nothing where all arrows point down.
    pub(crate) fn circles(&self) -> Vec<String> {
        let arrows: BTreeMap<&Module, BTreeSet<&Module>> =
            self.modules.keys().map(|module| (module, self.arrows(module))).collect();
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            arrows.keys().map(|from| (*from, reach(from, &arrows))).collect();
        let mut circles = BTreeSet::new();
        for (module, others) in &reached {
            circles
                .insert(others.iter().filter(|other| reached[**other].contains(module)).copied().collect::<Vec<_>>());
        }
        let name = |module: &Module| if module.is_empty() { "crate".to_owned() } else { module.join("::") };
        let told = circles.into_iter().filter(|circle| !circle.is_empty()).map(|circle| {
            let lines = circle.iter().map(|from| {
                let to = arrows[*from].iter().filter(|to| circle.contains(to)).map(|to| name(to)).collect::<Vec<_>>();
                format!("\n  {} -> {}", name(from), to.join(", "))
            });
            format!("{} modules need each other:{}", circle.len(), lines.collect::<String>())
        });
        told.collect()
    }

    /// The folders that each folder needs; a file beside the folders counts as one.
    pub(crate) fn between_folders(&self) -> Needs<'_> {
        let mut needs = Needs::new();
        for from in self.modules.keys() {
            let others = self.arrows(from).into_iter().map(|to| folder(to)).filter(|to| *to != folder(from));
            needs.entry(folder(from)).or_default().extend(others);
        }
        needs
    }

    /// The modules this one needs.
    fn arrows(&self, here: &Module) -> BTreeSet<&Module> {
        let (source, mut arrows, mut known) = (&self.modules[here], BTreeSet::new(), Names::new());
        for one in uses(source) {
            let Some(path) = self.absolute(&one.path, here) else { continue };
            // Of a module that is only named, it shows where its name is used.
            if !one.public && !self.modules.contains_key(&path) {
                arrows.extend(self.holder(&path));
            }
            known.insert(one.name, path);
        }
        for path in paths(&without_uses(source)) {
            let named = known.get(&path[0]).map(|known| [known, &path[1..]].concat());
            let whole = named.or_else(|| self.absolute(&path, here).filter(|_| path.len() > 1));
            arrows.extend(whole.and_then(|whole| self.holder(&whole)));
        }
        arrows.remove(here);
        arrows
    }

    /// The path from the root of the crate; none if it leads out of it.
    fn absolute(&self, path: &[String], here: &Module) -> Option<Module> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([here, &path[1..]].concat()),
            "super" => Some([&here[..here.len().checked_sub(ups)?], &path[ups..]].concat()),
            first => {
                self.modules.contains_key(&[here, &[first.to_owned()][..]].concat()).then(|| [here, path].concat())
            }
        }
    }

    /// The module that has what this path names. A path that leads to a module names the function that its parent has by
    /// the same name, if it has one; alone a module draws no arrow.
    fn holder(&self, path: &[String]) -> Option<&Module> {
        if self.modules.contains_key(path) {
            let (name, parent) = path.split_last()?;
            let (parent, source) = self.modules.get_key_value(parent)?;
            return match self.passed_on[parent].get(name) {
                Some(elsewhere) => self.holder(elsewhere),
                None => has_item(source, name).then_some(parent),
            };
        }
        let (module, rest) =
            (0..=path.len()).rev().find_map(|at| Some((self.modules.get_key_value(&path[..at])?.0, &path[at..])))?;
        match rest.first().and_then(|name| self.passed_on.get(module)?.get(name)) {
            Some(elsewhere) => self.holder(&[elsewhere, &rest[1..]].concat()),
            None => Some(module),
        }
    }
}

fn folder(module: &[String]) -> &str {
    module.first().map_or("crate", String::as_str)
}

/// Whether a source has something of this name that could stand beside a module of the same.
fn has_item(source: &str, name: &str) -> bool {
    tokens(source).windows(2).any(|pair| ["fn", "const", "static"].contains(&pair[0]) && pair[1] == name)
}

/// Everything that can be reached by arrows, itself only if it is in a circle.
fn reach<'a>(from: &'a Module, arrows: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> BTreeSet<&'a Module> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        next.extend(arrows[module].iter().filter(|to| reached.insert(**to)));
    }
    reached
}

/// Words and what stands between them, without spaces.
fn tokens(source: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), source.trim_start());
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            _ => word,
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Where a `use` begins and ends, with its semicolon.
fn use_lines(source: &str) -> Vec<(usize, usize)> {
    let starts = source.match_indices("use ").map(|(at, _)| at);
    let own = starts.filter(|at| source[..*at].chars().next_back().is_none_or(|c| c.is_whitespace()));
    own.map(|at| (at, at + source[at..].find(';').map_or(0, |length| length + 1))).collect()
}

fn without_uses(source: &str) -> String {
    let mut out = source.to_owned();
    for (from, to) in use_lines(source).into_iter().rev() {
        out.replace_range(from..to, "");
    }
    out
}

fn uses(source: &str) -> Vec<Use> {
    let mut all = Vec::new();
    for (from, to) in use_lines(source) {
        let before = source[..from].trim_end();
        let before = before.strip_suffix(')').and_then(|before| Some(before.rsplit_once('(')?.0)).unwrap_or(before);
        let public = before.ends_with("pub");
        branch(&tokens(&source[from + 4..to.max(from + 4)]), &[], public, &mut all);
    }
    all
}

/// One branch of a tree of uses, and all that hang on it.
fn branch(tokens: &[&str], stem: &[String], public: bool, all: &mut Vec<Use>) {
    let open = tokens.iter().position(|token| *token == "{").unwrap_or(tokens.len());
    let words = tokens[..open].iter().filter(|token| !["::", ";", "}"].contains(token));
    let words: Vec<String> = words.map(|word| (*word).to_owned()).collect();
    if open < tokens.len() {
        let (stem, mut depth, mut begin) = ([stem, &words].concat(), 0, open + 1);
        for (at, token) in tokens.iter().enumerate().skip(open) {
            depth += i32::from(*token == "{") - i32::from(*token == "}");
            if (*token == "," && depth == 1) || depth == 0 {
                branch(&tokens[begin..at], &stem, public, all);
                begin = at + 1;
            }
            if depth == 0 {
                return;
            }
        }
        return;
    }
    let (words, other_name) = match words.iter().position(|word| word == "as") {
        Some(at) => (&words[..at], words.get(at + 1).cloned()),
        None => (&words[..], None),
    };
    let mut path = [stem, words].concat();
    path.pop_if(|last| last == "self" && !stem.is_empty());
    if let (false, Some(last)) = (words.is_empty(), path.last()) {
        let name = other_name.unwrap_or_else(|| last.clone());
        all.push(Use { path, name, public });
    }
}

/// Every path and every single name in a source.
fn paths(source: &str) -> Vec<Module> {
    let tokens = tokens(source);
    let is_word = |token: &&str| token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let (mut paths, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if !is_word(&tokens[at]) || (at > 0 && ["::", "."].contains(&tokens[at - 1])) {
            at += 1;
            continue;
        }
        let mut path = vec![tokens[at].to_owned()];
        while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(is_word) {
            path.push(tokens[at + 2].to_owned());
            at += 2;
        }
        paths.push(path);
        at += 1;
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let module = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Rooms::of(files.iter().map(|(name, source)| (module(name), (*source).to_owned()))).circles()
    }

    #[test]
    fn two_files_that_need_each_other_are_a_circle_and_its_arrows_are_told() {
        let told = circles(&[
            ("", "mod ada; mod ben; mod eve;"),
            ("ada", "use crate::ben::{self, Plan};\nfn go(plan: Plan) { ben::act() }"),
            ("ben", "use crate::eve;\npub fn act() { super::ada::go(eve::PLAN) }"),
            ("eve", "pub const PLAN: u8 = 1;"),
        ]);
        assert_eq!(told, ["2 modules need each other:\n  ada -> ben\n  ben -> ada"]);
    }

    #[test]
    fn nothing_is_hidden_by_passing_it_on() {
        let facade = ("house", "mod low;\nmod high;\npub use low::Thing;\npub(crate) use high::{make as made};");
        let low = ("house::low", "pub struct Thing;\nimpl Thing { fn new() -> Thing { crate::house::made() } }");
        let high = ("house::high", "use super::Thing;\npub fn make() -> Thing { Thing }");
        let told = circles(&[("", "mod house;"), facade, low, high]);
        assert_eq!(told, ["2 modules need each other:\n  house::high -> house::low\n  house::low -> house::high"]);
        let innocent = (
            "house::low",
            "pub struct Thing; // crate::house::made()\nconst SAYS: &str = \"\\\n crate::house::made\";",
        );
        assert_eq!(circles(&[("", "mod house;"), facade, innocent, high]), [""; 0]);
    }

    /// Every chapter passes on `apply` from its file of that name, and the test passed over every path that is also a
    /// module: a caller of `chapter::apply` seemed to need nothing, and a circle of seventeen modules was none.
    #[test]
    fn a_function_named_like_the_module_it_is_in_is_seen() {
        let called = |apply| {
            circles(&[
                ("", "mod apply; mod chapter; mod draft;"),
                ("apply", apply),
                ("chapter", "mod apply;\nmod decide;\npub(crate) use apply::apply;"),
                ("chapter::apply", "use super::decide::FLOOR;\npub(crate) fn apply() -> f32 { FLOOR }"),
                ("chapter::decide", "use crate::draft::Draft;\npub const FLOOR: f32 = 0.1;\nfn decide(_: Draft) {}"),
                ("draft", "pub struct Draft;\nfn emit() { crate::apply::apply() }"),
            ])
        };
        let circle = "4 modules need each other:\n  apply -> chapter::apply\n  chapter::apply -> chapter::decide\n  \
                      chapter::decide -> draft\n  draft -> apply";
        assert_eq!(called("use crate::chapter;\npub fn apply() { chapter::apply() }"), [circle]);
        assert_eq!(called("pub fn apply() { crate::chapter::apply() }"), [circle]);
        assert_eq!(called("use crate::chapter::apply as one;\npub fn apply() { one() }"), [circle]);
    }

    #[test]
    fn a_function_named_like_a_module_beside_it_belongs_to_their_parent() {
        let own = "mod text;\npub fn text() -> u8 { text::long() }";
        let told = circles(&[
            ("", "mod house;"),
            ("house", own),
            ("house::text", "use super::text as short;\npub fn long() -> u8 { short() }"),
        ]);
        assert_eq!(told, ["2 modules need each other:\n  house -> house::text\n  house::text -> house"]);
    }

    #[test]
    fn what_is_only_called_like_a_module_is_no_arrow() {
        let told = circles(&[
            ("", "mod ada; mod ben;"),
            ("ada", "use crate::ben;\npub(in crate::ada) fn go(ben: u8) -> u8 { ben }"),
            ("ben", "pub fn act() { crate::ada::go(1) }"),
        ]);
        assert_eq!(told, [""; 0]);
    }

    #[test]
    fn what_only_tests_need_is_no_arrow() {
        let ada =
            "#[cfg(test)]\nmod tests { use crate::ben::act; }\nfn go() {\n    #[cfg(test)]\n    crate::ben::act();\n}";
        let ben = "#[cfg(test)]\nmod curse;\npub fn act() { crate::ada::go() }";
        let curse = "use crate::ada;\nfn lay() { ada::go(); super::act() }";
        assert_eq!(circles(&[("", "mod ada; mod ben;"), ("ada", ada), ("ben", ben), ("ben::curse", curse)]), [""; 0]);
    }

    #[test]
    fn folders_that_need_each_other_are_told_though_their_files_form_layers() {
        let files = [
            ("", "mod life; mod call;"),
            ("life", "use crate::call::state::Calls;\npub struct Life(Calls);"),
            ("call", "pub mod read;\npub mod state;"),
            ("call::state", "pub struct Calls;"),
            ("call::read", "use super::state::Calls;\nuse crate::life::Life;\nfn room(_: Life) -> Calls { Calls }"),
        ];
        assert_eq!(circles(&files), [""; 0]);
        let module = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let rooms = Rooms::of(files.map(|(name, source)| (module(name), source.to_owned())));
        assert_eq!(
            rooms.between_folders(),
            Needs::from([("call", ["life"].into()), ("crate", BTreeSet::new()), ("life", ["call"].into())])
        );
    }

    #[test]
    fn a_parent_that_calls_the_children_who_use_its_types_is_a_circle() {
        let told = circles(&[
            ("", "mod house;"),
            ("house", "mod room;\npub struct Key;\npub fn open() { room::enter(Key) }"),
            ("house::room", "use super::Key;\npub fn enter(_: Key) {}"),
        ]);
        assert_eq!(told, ["2 modules need each other:\n  house -> house::room\n  house::room -> house"]);
    }
}
