//! Remedies: what to change in a world whose promise does not hold, in the words of the questions it is asked: by the promise, or where one
//! promise can be broken in several ways, by the way.

/// A thing that is looked at, and what to change where it does not hold.
pub(super) type Promise = (&'static str, &'static str);

pub(super) const DECLARED: Promise = (
    "what it declares",
    "send the same `world` in every greeting, with each name once and instincts in the language of rules; `end` lies after `start`, \
     or is left out",
);
pub(super) const TOLD: Promise = (
    "its bars",
    "answer `observe` with every bar that closed after `since` and by `now`, oldest first and each once; if there are more than \
     `most`, with the first of them: it is asked again for the rest",
);
pub(super) const SOUND: Promise = (
    "the figures of its bars",
    "give each bar one number for every domain and one for every feature, in the order in which they are declared, none of them \
     infinite or NaN, and as `unit` what a unit is worth, from zero up",
);
pub(super) const ENDED: Promise =
    ("what it tells after its end", "answer `observe` without bars once `end` is over, or declare no `end`");
pub(super) const PIECES: Promise = (
    "its bars, piece by piece",
    "make a bar of its time and of what came before it, never of how often, how far or in which pieces it was asked",
);
pub(super) const EARLY: Promise = (
    "bars that have not closed",
    "leave a bar out while `closed` is later than `now`, and let no question change a later answer",
);
pub(super) const AGAIN: Promise = (
    "its bars, once more",
    "keep what was told, or make it again of `seed` and the time: the past stays as it is, also after `seek` in a new process",
);
pub(super) const NONSENSE: Promise = (
    "orders that make no sense",
    "answer `preview` with the quote null and `commit` with the fate `never` if `units` is not above zero, is more than you can do, \
     or `action` is not declared; that is no `error`",
);
pub(super) const PREVIEWS: Promise =
    ("previews", "let `preview` compute a quote and change nothing: no holding, no money, and no draw of chance");
pub(super) const ORDERS: Promise = (
    "orders (this takes longest)",
    "write the fate of a key down before you answer, and answer every later `commit` and `reconcile` of that key with it, whatever \
     is ordered; a key that you are asked about and have not been sent is `never`, and stays so",
);
pub(super) const PAST: Promise = (
    "its bars after orders",
    "let an order change only bars that close after it, and write down whatever those depend on before you answer",
);
pub(super) const FATES: Promise = (
    "fates after a restart",
    "write fates into the `folder` of the greeting before you answer, and read them when you start; `seek` says the last key that \
     counts",
);

pub(super) const UNITS: &str =
    "change what is held by at most `units`: up by what was added, and as a number below zero by what was given up";
pub(super) const LOTS: &str = "fill whole lots only, or declare a smaller `lot`";
pub(super) const MOST: &str = "where an order adds, fill it only if what is paid, `fee` less `cash`, is at most `most`; otherwise the fate is `never`";
pub(super) const LEAST: &str = "where an order gives up, fill it only if what comes in, `cash` less `fee`, is at least `least` (of a \
                                part, its part); otherwise the fate is `never`";
pub(super) const GAS: &str =
    "fill an order only if `gas` is at most the `gas` it allows; otherwise the fate is `never`";
pub(super) const SIGN: &str = "let `cash` be below zero where an order adds, and above zero where it gives up";
pub(super) const UNTIL: &str = "look at `until` before you fill an order: once the time of the last `observe` is past it, the fate \
                                is `never`";
pub(super) const HELD: &str = "add up what was filled, give back exactly that and no more, and keep a difference or a fee between \
                               going in and going out";
