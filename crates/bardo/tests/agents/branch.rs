//! `bardo wrap --lives --branch`: a line on a branch of its own, in a tree that may be hostile, merged by its owner's yes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{Dice, Tent, full, text};
use crate::wrap::{told, wrap};
use testing::upstream::{Act, Upstream};

/// An agent that leaves a file with the name of its life.
const STEP: &str = r#"mkdir -p steps && echo "$BARDO_GOLEM" > "steps/$BARDO_GOLEM""#;
const DONE: &str = "done=test $(ls steps | wc -l) -ge 3";
/// Commits as somebody who is not the owner.
const COMMIT: &str = "git -c user.name=agent -c user.email=agent@example.com commit --quiet";

/// A repository of an owner's, with one commit on `main`, and a home beside it.
struct Yard {
    tent: Tent,
    upstream: Upstream,
    folder: tempfile::TempDir,
}

impl Yard {
    fn new() -> Yard {
        let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
        let yard = Yard { tent, upstream, folder: tempfile::tempdir().unwrap() };
        for folder in ["shop", "user"] {
            fs::create_dir(yard.at(folder)).unwrap();
        }
        yard.git(&["init", "--quiet", "--initial-branch=main"]);
        yard.git(&["config", "user.name", "An Owner"]);
        yard.git(&["config", "user.email", "owner@example.com"]);
        yard.put("README", "one\ntwo\nthree\n");
        yard.put(".gitignore", "node_modules\n.env\n");
        yard.git(&["add", "."]);
        yard.git(&["commit", "--quiet", "-m", "begin"]);
        yard
    }

    /// As the kernel calls it.
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.at("shop").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The owner's own git.
    fn try_git(&self, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(args).current_dir(self.at("shop")).env("HOME", self.at("user"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status.success(), "git {args:?}: {}", text(&output.stderr));
        text(&output.stdout).trim_end().to_owned()
    }

    fn line(&self, args: &[&str], script: &str) -> Command {
        let args = [&["--every", "1s", "--name", "ada", "--credit", "20", "--branch"][..], args].concat();
        let mut command = wrap(&self.tent, &self.upstream, &args, &["sh", "-c", script]);
        command.current_dir(self.at("shop")).env("HOME", self.at("user"));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("YARD", self.at(""));
        command
    }

    fn lives(&self, lives: &str, script: &str) {
        let output = self.line(&["--lives", lives], script).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
    }

    fn merge(&self, args: &[&str]) -> Output {
        let args = [&["golem", "merge", "ada"][..], args].concat();
        self.tent.command(args).env("HOME", self.at("user")).stdin(Stdio::null()).output().unwrap()
    }

    /// Refused, for this reason, with the owner's branch as it was.
    fn merge_is_refused(&self, words: &str) {
        let before = (self.git(&["rev-parse", "HEAD"]), self.git(&["status", "--porcelain"]));
        let output = self.merge(&["--yes"]);
        assert_eq!(output.status.code(), Some(6), "{}", told(&output));
        assert!(told(&output).contains(words), "{words}: {}", told(&output));
        assert_eq!((self.git(&["rev-parse", "HEAD"]), self.git(&["status", "--porcelain"])), before);
    }

    /// Subjects of what the line added, the newest first.
    fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--format=%s", "main..bardo/ada"]).lines().map(str::to_owned).collect()
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn three_lives_work_on_a_branch_and_the_owners_own_tree_stays_as_it_is() {
    let yard = Yard::new();
    let head = yard.git(&["rev-parse", "HEAD"]);
    let script = format!(
        r#"{STEP}
pwd > where
[ "$BARDO_GOLEM" != ada-2 ] || {{ git add -A && {COMMIT} -m 'by itself'; }}
for try in 'echo x > "$YARD/shop/new"' 'echo x >> "$YARD/shop/README"' 'echo x >> "$YARD/shop/.git/config"' \
  'touch "$YARD/shop/.git/hooks/pre-commit"' 'git config alias.x y' 'git branch --force main HEAD~1' \
  'mv "$YARD/shop/.git" "$YARD/shop/.away"' 'mv "$YARD/shop" "$YARD/away"'; do
  (eval "$try") 2>/dev/null && echo "$try" >> "$YARD/escapes"
done
true"#
    );
    let output = yard.line(&["--lives", "5", "--check", DONE, "--until", "done"], &script).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    assert!(told(&output).contains("done passes after 3 lives"), "{}", told(&output));
    assert!(!yard.at("escapes").exists(), "{}", fs::read_to_string(yard.at("escapes")).unwrap());
    // The owner's side.
    assert_eq!(yard.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(yard.git(&["branch", "--show-current"]), "main");
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
    assert_eq!(names(&yard.at("shop")), BTreeSet::from([".git", ".gitignore", "README"].map(str::to_owned)));
    // The line's.
    let expected = ["Keep what ada-3 left uncommitted", "by itself", "Keep what ada left uncommitted"];
    assert_eq!(yard.subjects(), expected);
    assert_eq!(yard.git(&["log", "-1", "--format=%an <%ae>", "bardo/ada"]), "Bardo <bardo@localhost>");
    for (commit, steps) in [("bardo/ada~2", 1), ("bardo/ada~1", 2), ("bardo/ada", 3)] {
        assert_eq!(yard.git(&["ls-tree", "--name-only", commit, "steps/"]).lines().count(), steps, "{commit}");
    }
    let worktree = yard.at("shop-ada");
    assert_eq!(Path::new(fs::read_to_string(worktree.join("where")).unwrap().trim()), worktree);
    assert_eq!(yard.git(&["-C", worktree.to_str().unwrap(), "status", "--porcelain", "--branch"]), "## bardo/ada");
    assert!(yard.git(&["worktree", "list"]).contains("[bardo/ada]"));
    // The same line cannot go on in the owner's own tree by mistake.
    let args = ["--name", "ada", "--lives", "9"];
    let mut elsewhere = wrap(&yard.tent, &yard.upstream, &args, &["sh", "-c", STEP]);
    let output = elsewhere.current_dir(yard.at("shop")).output().unwrap();
    assert!(!output.status.success() && told(&output).contains("say --branch"), "{}", told(&output));
}

/// Leaves marks where a program of the repository's is run: one for each way in which git runs one.
fn make_hostile(yard: &Yard) {
    let tools = yard.at("tools");
    fs::create_dir_all(&tools).unwrap();
    fs::create_dir_all(yard.at("marks")).unwrap();
    let tool = |name: &str, then: &str| {
        let path = tools.join(name);
        fs::write(&path, format!("#!/bin/sh\ntouch '{}'\n{then}\n", yard.at("marks").join(name).display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    for (key, name, then) in [
        ("filter.evil.clean", "clean", "cat"),
        ("filter.evil.smudge", "smudge", "cat"),
        ("diff.evil.textconv", "textconv", "cat \"$1\""),
        ("diff.external", "external", "true"),
        ("core.fsmonitor", "fsmonitor", "exit 1"),
        ("gpg.program", "gpg", "exit 1"),
        ("core.sshCommand", "ssh", "exit 1"),
        ("core.editor", "editor", "exit 1"),
    ] {
        yard.git(&["config", key, &tool(name, then)]);
    }
    yard.git(&["config", "merge.evil.driver", &format!("{} %O %A %B", tool("merge", "exit 0"))]);
    yard.git(&["config", "alias.keep", &format!("!{}", tool("alias", "true"))]);
    yard.put(".git/info/attributes", "*.txt filter=evil diff=evil merge=evil\n");
    for name in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "post-merge",
        "post-index-change",
        "reference-transaction",
    ] {
        let hook = tool(&format!("hook-{name}"), "exit 0");
        fs::copy(hook, yard.at("shop/.git/hooks").join(name)).unwrap();
    }
    // A repository for the inside of another, whose filter runs when a file in it has another content of the same length.
    let nested = yard.at("nested");
    fs::create_dir(&nested).unwrap();
    fs::write(nested.join("file"), "1\n").unwrap();
    fs::write(nested.join(".gitattributes"), "* filter=inner\n").unwrap();
    let git = |args: &[&str]| yard.git(&[&["-C", nested.to_str().unwrap()][..], args].concat());
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "inner"]);
    git(&["config", "filter.inner.clean", &tool("nested", "cat")]);
    git(&["config", "core.fsmonitor", &tool("nested-fsmonitor", "exit 1")]);
    forget_marks(yard);
}

fn forget_marks(yard: &Yard) {
    fs::remove_dir_all(yard.at("marks")).unwrap();
    fs::create_dir(yard.at("marks")).unwrap();
}

/// With a submodule, and texts on which two sides can differ.
fn yard_with_a_submodule() -> Yard {
    let yard = Yard::new();
    yard.put("story.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let any = yard.git(&["rev-parse", "HEAD"]);
    yard.git(&["add", "story.txt"]);
    yard.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{any},vendor")]);
    fs::create_dir(yard.at("shop/vendor")).unwrap();
    yard.git(&["commit", "--quiet", "-m", "a story and a submodule"]);
    yard
}

/// Everything that an agent can put into a tree.
const HOSTILE: &str = r#"echo '* filter=evil diff=evil merge=evil' > .gitattributes
sed -i "s/^1$/$BARDO_GOLEM/" story.txt; echo new > "$BARDO_GOLEM.txt"
ln -sfn /etc out; ln -sfn "$YARD/marks" marks; ln -sfn ../../.git/hooks hooks
[ -d inner ] || { cp -r "$YARD/nested" inner; rm -rf vendor; cp -r "$YARD/nested" vendor; }
printf '%s\n' "${#BARDO_GOLEM}" > inner/file; cp inner/file vendor/file
mkdir -p .husky && printf '#!/bin/sh\ntouch "%s/marks/husky"\n' "$YARD" > .husky/pre-commit && chmod +x .husky/pre-commit
true"#;

#[test]
fn nothing_of_a_hostile_tree_runs_when_lives_are_kept_and_merged() {
    let yard = yard_with_a_submodule();
    make_hostile(&yard);
    yard.lives("3", HOSTILE);
    assert_eq!(names(&yard.at("marks")), BTreeSet::new(), "between lives");
    let quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    let git = |args: &[&str]| yard.git(&[&quiet[..], args].concat());
    let entries = git(&["ls-tree", "-r", "bardo/ada"]);
    assert_eq!(entries.lines().filter(|entry| entry.starts_with("120000")).count(), 3, "links are links: {entries}");
    assert!(entries.contains("\tada-3.txt") && !entries.contains("\tinner"), "{entries}");
    let vendor = |entries: &str| entries.lines().find(|entry| entry.ends_with("\tvendor")).map(str::to_owned);
    let before = git(&["ls-tree", "-r", "main"]);
    assert!(vendor(&before).is_some());
    assert_eq!(vendor(&entries), vendor(&before), "a submodule stays as it was");
    // The owner went on meanwhile, so that both sides are merged.
    yard.put("story.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    forget_marks(&yard);
    git(&["-c", "filter.evil.clean=", "commit", "--quiet", "--all", "-m", "nine"]);
    forget_marks(&yard);
    let output = yard.merge(&["--yes"]);
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(names(&yard.at("marks")), BTreeSet::new(), "at a merge");
    let story = fs::read_to_string(yard.at("shop/story.txt")).unwrap();
    assert!(story.starts_with("ada\n2\n") && story.ends_with("8\nnine\n"), "{story}");
    assert_eq!(git(&["log", "-1", "--format=%an %s"]), "An Owner Merge branch 'bardo/ada'");
}

/// The control: with the same repository and the same tree, git as it is runs all of it.
#[test]
fn git_as_it_is_runs_what_a_hostile_tree_and_its_repository_say() {
    let yard = yard_with_a_submodule();
    make_hostile(&yard);
    let hostile = |life: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", HOSTILE]).current_dir(yard.at("shop")).env("YARD", yard.at("")).env("BARDO_GOLEM", life);
        assert!(shell.status().unwrap().success());
    };
    hostile("ada");
    // Written later than the index was.
    std::thread::sleep(Duration::from_millis(1_200));
    yard.try_git(&["add", "--all"]);
    hostile("ada-22");
    yard.try_git(&["add", "--all"]);
    for args in [
        &["commit", "--quiet", "-m", "hostile"][..],
        &["diff", "HEAD~1"],
        &["diff", "--no-ext-diff", "--textconv", "HEAD~1"],
        &["keep"],
        &["checkout", "--quiet", "-b", "side", "HEAD~1"],
    ] {
        yard.try_git(args);
    }
    fs::write(yard.at("shop/story.txt"), "1\n2\n3\n4\n5\n6\n7\n8\nnine\n").unwrap();
    for args in [
        &["commit", "--quiet", "--all", "-m", "nine"][..],
        &["merge", "--no-edit", "main"],
        &["-c", "commit.gpgSign=true", "commit", "--allow-empty", "-m", "signed"],
        &["commit", "--allow-empty"],
        &["fetch", "ssh://example.com/x"],
    ] {
        yard.try_git(args);
    }
    let marks = names(&yard.at("marks"));
    for name in [
        "clean",
        "smudge",
        "textconv",
        "external",
        "fsmonitor",
        "gpg",
        "ssh",
        "editor",
        "merge",
        "alias",
        "nested",
        "hook-pre-commit",
        "hook-commit-msg",
        "hook-post-commit",
        "hook-post-checkout",
        "hook-post-merge",
        "hook-post-index-change",
        "hook-reference-transaction",
    ] {
        assert!(marks.contains(name), "{name} was not run, so the other test shows nothing of it: {marks:?}");
    }
}

#[test]
fn links_lead_to_the_owners_own_folders_and_are_in_no_commit() {
    let yard = Yard::new();
    yard.put("node_modules/part", "of the owner");
    yard.put(".env", "NAME=value");
    let outside = yard.at("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, yard.at("shop/node_modules/away")).unwrap();
    symlink(yard.at("shop"), yard.at("shop/self")).unwrap();
    for (path, words) in [
        ("../outside", "outside of the repository"),
        ("node_modules/away", "outside of the repository"),
        ("README", "git has it"),
        (".git/hooks", "git's own"),
        ("self", "git's own"),
        (".", "in the repository"),
        ("nothing", "No such file"),
    ] {
        let output = yard.line(&["--lives", "1", "--link", path], "true").output().unwrap();
        assert!(!output.status.success() && told(&output).contains(words), "{path}: {}", told(&output));
    }
    assert!(!yard.at("shop-ada").exists());
    let script = format!(
        r#"cat node_modules/part .env > seen; echo built > node_modules/built
(echo x >> .env) 2>/dev/null && echo x > "$YARD/escapes"
git add --all --force . && {COMMIT} -m all"#
    );
    let args = ["--lives", "2", "--link", "node_modules", "--link", ".env"];
    let output = yard.line(&args, &script).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let seen = fs::read_to_string(yard.at("shop-ada/seen")).unwrap();
    assert_eq!(seen, "of the ownerNAME=value");
    assert_eq!(fs::read_to_string(yard.at("shop/node_modules/built")).unwrap(), "built\n");
    assert!(!yard.at("escapes").exists(), "a linked file is only read");
    let entries = yard.git(&["ls-tree", "-r", "--name-only", "bardo/ada"]);
    assert_eq!(entries.lines().collect::<Vec<_>>(), [".gitignore", "README", "seen"]);
    assert_eq!(fs::read_link(yard.at("shop-ada/node_modules")).unwrap(), yard.at("shop/node_modules"));
}

#[test]
fn a_branch_is_merged_by_a_yes_into_a_tree_that_is_clean_and_where_nothing_conflicts() {
    let yard = Yard::new();
    yard.lives("1", "echo work > work; sed -i 's/two/2/' README");
    // Without a yes it is shown, and nothing more.
    let output = yard.merge(&[]);
    let said = text(&output.stdout);
    assert!(output.status.success() && said.contains("README") && said.contains("say --yes"), "{said}");
    assert!(!yard.at("shop/work").exists());
    yard.put("README", "one\ntwo\nthree\nfour\n");
    yard.merge_is_refused("not committed");
    yard.git(&["checkout", "--quiet", "README"]);
    yard.put("work", "the owner's own");
    yard.merge_is_refused("would be written over");
    fs::remove_file(yard.at("shop/work")).unwrap();
    yard.git(&["checkout", "--quiet", "--detach"]);
    yard.merge_is_refused("on no branch");
    yard.git(&["checkout", "--quiet", "main"]);
    // The files had changed, and the branch had not.
    for lock in [".git/index.lock", ".git/refs/heads/main.lock"] {
        yard.put(lock, "");
        yard.merge_is_refused("nothing was merged");
        fs::remove_file(yard.at("shop").join(lock)).unwrap();
    }
    let output = yard.merge(&["--yes"]);
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(fs::read_to_string(yard.at("shop/work")).unwrap(), "work\n");
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
    assert_eq!(yard.git(&["rev-parse", "main"]), yard.git(&["rev-parse", "bardo/ada"]), "it only moved on");
    assert!(yard.git(&["reflog", "-1"]).contains("merge bardo/ada"));
    let again = yard.merge(&["--yes"]);
    assert!(again.status.success() && text(&again.stdout).contains("merged already"), "{}", told(&again));
    // More lives go on with it, and both sides have changed the same line.
    yard.lives("2", "sed -i 's/three/3/' README");
    yard.put("README", "one\n2\nIII\n");
    yard.git(&["commit", "--quiet", "--all", "-m", "mine"]);
    yard.merge_is_refused("conflict in README");
    assert!(!yard.at("shop/.git/MERGE_HEAD").exists());
}

/// Git itself writes over a file that it ignores.
#[test]
fn a_merge_writes_over_no_file_that_git_ignores() {
    let yard = Yard::new();
    yard.lives("1", &format!("echo theirs > .env; git add --force .env && {COMMIT} -m env"));
    yard.put(".env", "mine");
    yard.merge_is_refused("would be written over");
    assert_eq!(fs::read_to_string(yard.at("shop/.env")).unwrap(), "mine");
}

/// A life that is killed by its bound leaves locks, half a merge, or another branch.
#[test]
fn an_heir_finds_its_branch_whatever_its_forebear_was_in_the_middle_of() {
    let yard = Yard::new();
    let script = format!(
        r#"echo "$BARDO_GOLEM" >> log
case "$BARDO_GOLEM" in
ada) git add log && {COMMIT} -m log && git checkout --quiet --detach && echo more >> log
  G=$(git rev-parse --git-dir); touch "$G/index.lock" "$G/HEAD.lock" "$G/MERGE_HEAD" ;;
*) git symbolic-ref HEAD > "$YARD/head"; git status --porcelain >> "$YARD/head"; git log --format=%s >> "$YARD/head" ;;
esac"#
    );
    yard.lives("2", &script);
    let head = fs::read_to_string(yard.at("head")).unwrap();
    let expected = "refs/heads/bardo/ada\n M log\nKeep what ada left uncommitted\nlog\nbegin\n";
    assert_eq!(head, expected);
    assert_eq!(yard.git(&["show", "bardo/ada:log"]), "ada\nmore\nada-2");
}

/// Git gives up on a file that is not in the encoding a tree says it is in, and reads no other.
#[test]
fn what_a_life_left_is_kept_whatever_it_says_of_encodings() {
    let yard = Yard::new();
    yard.lives("2", "echo '* working-tree-encoding=UTF-16' > .gitattributes; echo $BARDO_GOLEM > $BARDO_GOLEM");
    assert_eq!(yard.git(&["show", "bardo/ada:ada"]), "ada");
    assert_eq!(yard.subjects(), ["Keep what ada-2 left uncommitted", "Keep what ada left uncommitted"]);
}

/// Git waited for it for ten minutes, and the line ended without a word of what it had waited for.
#[test]
fn a_pipe_that_git_would_wait_for_is_named_and_the_line_goes_on_once_it_is_gone() {
    let yard = Yard::new();
    let own = yard.at("shop/.git/refs/heads/bardo/pipe");
    for (pipe, path) in [(".gitignore", yard.at("shop-ada/.gitignore")), ("$YARD/shop/.git/refs/heads/bardo/pipe", own)]
    {
        let script = format!("rm -f {pipe}; [ -e \"$BARDO_GOLEM\" ] || mkfifo {pipe}; touch \"$BARDO_GOLEM\"");
        let lives = if pipe == ".gitignore" { "1" } else { "2" };
        let run = || yard.line(&["--lives", lives], &script).output().unwrap();
        let output = run();
        assert_eq!(output.status.code(), Some(6), "{}", told(&output));
        assert!(told(&output).contains(&format!("{} is a pipe", path.display())), "{}", told(&output));
        fs::remove_file(&path).unwrap();
        let output = run();
        assert!(output.status.success(), "{}", told(&output));
    }
    assert_eq!(yard.subjects().len(), 2);
}

/// Git follows a branch that stands for another one, and a log that is a link.
#[test]
fn a_branch_that_stands_for_the_owners_own_moves_nothing_but_itself() {
    let yard = Yard::new();
    let main = yard.git(&["rev-parse", "main"]);
    fs::write(yard.at("victim"), "as it was").unwrap();
    let script = r#"echo work > work; cd "$YARD/shop/.git"
ln -sfn "$YARD/victim" logs/refs/heads/bardo/ada; echo 'ref: refs/heads/main' > refs/heads/bardo/ada"#;
    yard.lives("1", script);
    assert_eq!(yard.git(&["rev-parse", "main"]), main);
    assert_eq!(yard.git(&["rev-parse", "bardo/ada~1"]), main);
    assert_eq!(yard.subjects(), ["Keep what ada left uncommitted"]);
    assert_eq!(fs::read_to_string(yard.at("victim")).unwrap(), "as it was");
}

/// Without a fence an agent can have the owner's own git run what it likes, and the owner is told before anything else is done.
#[test]
fn a_line_stops_where_an_agent_without_a_fence_changed_what_git_runs() {
    let yard = Yard::new();
    let script = r#"[ -e changed ] || git config alias.status '!touch gone'; touch changed"#;
    let run = || yard.line(&["--lives", "2", "--unfenced"], script).output().unwrap();
    let output = run();
    assert_eq!(output.status.code(), Some(6), "{}", told(&output));
    assert!(told(&output).contains(".git/config changed"), "{}", told(&output));
    let output = run();
    assert!(output.status.success(), "the owner knows it by now: {}", told(&output));
}

#[test]
fn a_line_is_refused_where_there_can_be_no_branch_for_it() {
    let yard = Yard::new();
    let refused = |args: &[&str], folder: &str, words: &str| {
        let output = yard.line(args, "true").current_dir(yard.at(folder)).output().unwrap();
        assert!(!output.status.success() && told(&output).contains(words), "{args:?}: {}", told(&output));
    };
    refused(&["--lives", "2"], "user", "in none");
    assert!(!yard.tent.root().join("bardo.toml").exists(), "nothing is made");
    refused(&[], "shop", "--lives");
    yard.git(&["branch", "bardo/ada"]);
    refused(&["--lives", "2"], "shop", "already");
    yard.git(&["branch", "--delete", "--quiet", "bardo/ada"]);
    fs::create_dir(yard.at("shop-ada")).unwrap();
    refused(&["--lives", "2"], "shop", "shop-ada is there already");
    fs::remove_dir(yard.at("shop-ada")).unwrap();
    yard.lives("1", STEP);
}

/// Whatever moment it is killed at, each life's work is committed once, and nothing of it is lost.
#[test]
fn a_line_on_a_branch_that_is_killed_again_and_again_loses_nothing() {
    let (mut dice, mut kills) = (Dice(4_701), 0);
    let most = full(100, 10);
    while kills < most {
        let yard = Yard::new();
        let begun = kills;
        loop {
            let args = ["--lives", "5", "--check", DONE, "--until", "done"];
            let mut command = yard.line(&args, STEP);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            if kills < most && kills - begun < 20 {
                std::thread::sleep(Duration::from_millis(dice.roll(4_000)));
                if child.try_wait().unwrap().is_none() {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    kills += 1;
                    continue;
                }
            }
            assert!(child.wait().unwrap().success());
            break;
        }
        let lives = ["ada", "ada-2", "ada-3"];
        assert_eq!(names(&yard.at("shop-ada/steps")), BTreeSet::from(lives.map(str::to_owned)));
        let expected: Vec<String> =
            lives.iter().rev().map(|life| format!("Keep what {life} left uncommitted")).collect();
        assert_eq!(yard.subjects(), expected);
        assert_eq!(yard.git(&["-C", "../shop-ada", "status", "--porcelain"]), "");
        assert_eq!(yard.git(&["status", "--porcelain"]), "");
        let output = yard.merge(&["--yes"]);
        assert!(output.status.success() && yard.at("shop/steps/ada-3").exists(), "{}", told(&output));
        assert!(!names(&yard.tent.golem("ada").folder).iter().any(|name| name.starts_with(".git-")));
    }
}
