//! Checks before anything is made: mistyped flags, and addresses or keys that would go past the budget, are refused here.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use settings::read_span;
use shell::{Error, Home};
use tariff::PROVIDERS;

use super::keys::{self, Given, Wish};
use super::known::{self, Recognised};
use super::passage::Allowed;
use super::rations;
use super::servers::{self, Own};
use crate::args::{TellWay, WrapArgs};
use crate::commands::branch::LineBranch;
use crate::commands::checks;
use crate::output;

/// How long a program has to wind up once it is out of money, by default.
const WIND_UP: Duration = Duration::from_secs(30);

pub(super) struct Plans {
    pub(super) protected: Vec<PathBuf>,
    pub(super) wind_up: Duration,
    pub(super) recognised: Recognised,
    pub(super) servers: Vec<Own>,
    pub(super) given: Given,
    /// Where the program may go, if not anywhere.
    pub(super) allowed: Option<Allowed>,
}

impl Plans {
    pub(super) fn of(home: &Home, args: &WrapArgs) -> Result<Plans, Error> {
        checks::plan(&args.check, &args.number)?;
        rations::settings(args)?;
        line_fits(home, args)?;
        let protected = real(&args.protect)?;
        let wind_up = args.wind_up.as_deref().map(|text| {
            let wrong = || Error::Usage(format!("'{text}' is not a span; write --wind-up 30s or --wind-up 2m"));
            read_span(text).map(|span| Duration::from_millis(span.as_millis())).ok_or_else(wrong)
        });
        must_exist(&args.program[0])?;
        keys::none_told(&args.program)?;
        let own = |name: &str| std::env::var(name).ok();
        servers::none_past(&own, &args.keep)?;
        let recognised = known::recognise(&args.program);
        hooks_fit(args, &recognised)?;
        let servers = servers_for(home, &recognised, args.own_login)?;
        let kept = if args.own_login { own_login(home, &recognised, &servers)? } else { &[][..] };
        let keep: Vec<String> = args.keep.iter().cloned().chain(kept.iter().map(|name| (*name).to_owned())).collect();
        let ours = gateway::keys(&home.settings()?)?;
        let text =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let given = keys::given(text, Wish { clean: args.clean_env, keep: &keep, ours: &ours });
        let wind_up = wind_up.transpose()?.unwrap_or(WIND_UP);
        let allowed = args.only_through.then(|| Allowed::of(&args.allow, hosts_of(&servers))).transpose()?;
        Ok(Plans { protected, wind_up, recognised, servers, given, allowed })
    }

    /// Says how the program's environment differs from its owner's.
    pub(super) fn say_environment(&self, own_login: bool) {
        if let Some(own) = self.recognised.known.own_login.as_ref().filter(|_| own_login) {
            let name = self.recognised.known.name;
            output::complain(format!("{name} keeps its own login, which goes to {} alone, unread", own.provider));
        }
        for Own { variable, server, provider } in &self.servers {
            let book = server.owner().map_or(*provider, |owner| owner.name);
            output::complain(format!(
                "calls go on to {}, as {variable} says, and cost what the same names cost at {book}, if models.prices in bardo.toml \
                 does not say otherwise{}",
                server.host(),
                if server.is_local() {
                    "; a model without a price costs nothing on this machine, unless --price IN/OUT gives it one"
                } else {
                    ""
                }
            ));
        }
        let kept = self.given.kept_back.iter().map(String::as_str);
        let kept: Vec<&str> = kept.filter(|name| !self.recognised.replaces(name)).collect();
        if !kept.is_empty() {
            output::complain(format!("kept from the program: {}; --keep NAME passes one on", kept.join(", ")));
        }
    }
}

/// Refuses a line whose flags do not fit together, and one whose golems a host would run.
fn line_fits(home: &Home, args: &WrapArgs) -> Result<(), Error> {
    if args.lives.is_some() {
        no_host(home)?;
    }
    if args.tell.is_some() && home.is_up() {
        let why = "a host is up, and calls go through it; --tell puts its line in those that go through wrap itself";
        return Err(Error::Usage(why.to_owned()));
    }
    if args.branch {
        LineBranch::fits_here()?;
    }
    if args.share.is_some_and(|share| !share.is_positive()) {
        return Err(Error::Usage(
            "--share 0 leaves a life nothing to live on; write some money, such as 0.50".to_owned(),
        ));
    }
    let Some(until) = &args.until else { return Ok(()) };
    let is_said = |flag: &String| flag.split_once('=').is_some_and(|(name, _)| name == until);
    if args.check.iter().any(is_said) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "--until {until} is about a check that passes or fails; say what it runs, as in --check {until}='cargo test -q'"
    )))
}

/// Refuses hooks for a program that has none, or that its owner's arguments would keep from it.
fn hooks_fit(args: &WrapArgs, recognised: &Recognised) -> Result<(), Error> {
    if args.tell != Some(TellWay::Hooks) {
        return Ok(());
    }
    let name = recognised.known.name;
    let Some(hooks) = &recognised.known.hooks else {
        let why = "--tell=hooks is for claude and codex, which are known by name; start one of them, or say --tell";
        return Err(Error::Usage(why.to_owned()));
    };
    let Some(word) = hooks.replaced_in(&args.program) else { return Ok(()) };
    let word = word.split('=').next().unwrap_or_default();
    Err(Error::Usage(format!(
        "with {word} of your own, {name} would not hear of the hooks of --tell=hooks; put yours into a file of {name}'s settings, or \
         say --tell"
    )))
}

/// Refuses a line in a home whose golems a host runs.
pub(super) fn no_host(home: &Home) -> Result<(), Error> {
    if !home.is_up() {
        return Ok(());
    }
    let why = "a host is up, which runs all golems here, and --lives runs those of its line itself; stop the host, or give \
               the line a home of its own with --home";
    Err(Error::Usage(why.to_owned()))
}

/// The hosts that calls go on to; what is on this machine is told apart by its port and is its owner's to allow.
fn hosts_of(servers: &[Own]) -> Vec<String> {
    let hosts = servers.iter().map(|own| own.server.host().to_lowercase());
    hosts.filter(|host| host != "localhost" && host.parse::<IpAddr>().is_err()).collect()
}

fn real(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let wrong = |path: &PathBuf, why| Error::Usage(format!("cannot protect {}: {why}", path.display()));
    paths.iter().map(|path| path.canonicalize().map_err(|why| wrong(path, why))).collect()
}

/// A mistyped program must not leave a golem behind that has money and no use.
fn must_exist(program: &str) -> Result<(), Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = if program.contains('/') {
        Path::new(program).is_file()
    } else {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    if found { Ok(()) } else { Err(Error::Usage(format!("cannot start {program}: there is no such program"))) }
}

/// Variables in the owner's environment that hold a login of the program's; or why it cannot keep its own login.
fn own_login(home: &Home, recognised: &Recognised, servers: &[Own]) -> Result<&'static [&'static str], Error> {
    let Some(own) = &recognised.known.own_login else {
        let why = "--own-login is for claude and codex, which are known by name; start one of them, or leave it out";
        return Err(Error::Usage(why.to_owned()));
    };
    if let Some(server) = servers.iter().find(|server| server.provider == own.provider) {
        let variable = server.variable;
        return Err(Error::Usage(format!(
            "{variable} leads to {}, and a login of {}'s goes to {} itself and nowhere else; start it with `env -u {variable} \
             bardo wrap …`, or without --own-login",
            server.server.host(),
            recognised.known.name,
            own.provider
        )));
    }
    if home.is_up() && !home.settings()?.flag("gateway.own_login") {
        let why = "a host is up, and calls go through it; for --own-login set own_login = true under [gateway] in bardo.toml and \
                   restart it";
        return Err(Error::Usage(why.to_owned()));
    }
    Ok(own.keep)
}

/// The servers that stand in for a provider's own. What the settings say goes before the environment, and a host that is up knows
/// nothing of this one.
fn servers_for(home: &Home, recognised: &Recognised, own_login: bool) -> Result<Vec<Own>, Error> {
    let models = gateway::Models::of(&home.settings()?, home.prices()?)?;
    let own = |name: &str| std::env::var(name).ok();
    let mut servers = Vec::new();
    for provider in servers::TAKEN_ON {
        if models.is_settled(provider) {
            if let Some(variable) = servers::variable(provider, &own) {
                output::complain(format!(
                    "{variable} is ignored: the settings say where calls go (gateway.models, gateway.upstreams)"
                ));
            }
            continue;
        }
        match servers::own(provider, &own)? {
            Some(server) if home.is_up() => return Err(servers::unknown_to_host(&server)),
            Some(server) => servers.push(server),
            None if home.is_up() => {}
            None => {
                servers::no_strangers_key(provider, &own)?;
                let known = PROVIDERS.iter().find(|known| known.name == provider).and_then(|known| known.key_env);
                if let Some(key) = known.filter(|key| recognised.known.key == Some(key) && !own_login)
                    && own(key).is_none_or(|value| value.trim().is_empty())
                {
                    output::complain(format!(
                        "{key} is not set here, and {}'s calls are paid with it: set it before `bardo wrap`",
                        recognised.known.name
                    ));
                }
            }
        }
    }
    Ok(servers)
}
