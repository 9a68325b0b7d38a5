//! The figure of a golem, drawn from its state alone: vitality gives its size, its phase the ears, its mood the face, its
//! age feet, crest and wrinkles; of a dead one there is its stone. The page draws it by the same rules
//! (crates/server/page/creature.js), and both are tested against the drawings in creatures.txt.

use super::status::{State, Status};

/// Pixels of a side.
pub const SIDE: usize = 12;

/// Twelve rows of pixels, from the top; the bit of the highest value is the leftmost.
pub type Pixels = [u16; SIDE];

const STONE: Pixels = [0, 0x1f8, 0x3fc, 0x39c, 0x30c, 0x39c, 0x39c, 0x39c, 0x3fc, 0x3fc, 0x3fc, 0xfff];
/// Row and bit of what age has taken from a stone.
const MOSS: [(usize, u16); 3] = [(10, 3), (9, 8), (8, 2)];
const Z: [u16; 3] = [0x6, 0x2, 0x3];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mouth {
    Smiles,
    Straight,
    Down,
}

/// The mouth of each mood, whether its eyes are wide, and whether it bristles.
fn face(mood: &str) -> (Mouth, bool, bool) {
    match mood {
        "joy" | "trust" => (Mouth::Smiles, true, false),
        "serenity" | "acceptance" => (Mouth::Smiles, false, false),
        "anger" | "fear" => (Mouth::Down, true, true),
        "disgust" | "sadness" => (Mouth::Down, false, false),
        _ => (Mouth::Straight, false, false),
    }
}

/// The pixels of an ear in each phase: rows above the top of the head, and columns beyond its edge.
fn ear(phase: &str) -> &'static [(i32, i32)] {
    match phase {
        "thriving" => &[(1, -2), (2, -2)],
        "stable" => &[(1, -2)],
        "conservation" => &[(1, -1)],
        "declining" => &[(-1, 0), (-2, 0)],
        _ => &[],
    }
}

/// The figure of a golem with this status.
pub fn creature(status: &Status) -> Pixels {
    let quarter = (status.age.saturating_mul(4) / status.lifespan.max(1)).min(3) as usize;
    match status.state {
        State::Dead => stone(quarter),
        state => body(status, state == State::Dreaming, quarter),
    }
}

fn stone(quarter: usize) -> Pixels {
    let mut rows = STONE;
    for (row, bit) in MOSS.into_iter().take(quarter) {
        rows[row] &= !(1 << bit);
    }
    rows
}

fn body(status: &Status, asleep: bool, quarter: usize) -> Pixels {
    let level = (8.0 * status.vitality).clamp(0.0, 7.0) as i32;
    let (mouth, wide, bristles) = face(&status.mood);
    let girth = 3 + 3 * level / 8;
    let height = if asleep { 6 } else { 6 + level / 3 };
    let (top, bottom) = (11 - height, 10);
    let mut rows = [0; SIDE];
    for row in top..=bottom {
        let round = i32::from(row == top || row == bottom);
        for from in 0..girth - round {
            set(&mut rows, row, from);
        }
        if bristles && !asleep && round == 0 && (row - top) % 2 == 0 {
            set(&mut rows, row, girth);
        }
    }
    for (above, beyond) in ear(&status.phase).iter().filter(|_| !asleep) {
        set(&mut rows, top - above, girth + beyond);
    }
    if quarter >= 1 {
        set(&mut rows, 11, 1);
    }
    if quarter >= 2 {
        set(&mut rows, top - 1, 0);
    }
    // Of the last there is not much left below.
    if status.phase == "terminal" {
        for from in (bottom % 2..girth).step_by(2) {
            clear(&mut rows, bottom, from);
        }
    }
    let eyes = top + 1;
    clear(&mut rows, eyes + 1, 1);
    if asleep {
        clear(&mut rows, eyes + 1, 2);
        for (row, bits) in rows.iter_mut().zip(Z) {
            *row |= bits;
        }
        return rows;
    }
    if wide {
        clear(&mut rows, eyes, 1);
    }
    let lips: &[(i32, i32)] = match mouth {
        Mouth::Straight => &[(3, 0)],
        Mouth::Smiles => &[(3, 1), (4, 0)],
        Mouth::Down => &[(3, 0), (4, 1)],
    };
    for (row, from) in lips {
        clear(&mut rows, eyes + row, *from);
    }
    if quarter >= 3 {
        clear(&mut rows, eyes + 2, girth - 1);
    }
    rows
}

/// The bits of the two pixels so far from the middle.
fn pair(from: i32) -> u16 {
    (1 << (6 + from)) | (1 << (5 - from))
}

fn set(rows: &mut Pixels, row: i32, from: i32) {
    rows[row as usize] |= pair(from);
}

fn clear(rows: &mut Pixels, row: i32, from: i32) {
    rows[row as usize] &= !pair(from);
}

/// The figure for a terminal, two rows of pixels in a line of text.
pub fn half_blocks(rows: &Pixels) -> Vec<String> {
    let block = |(upper, lower)| match (upper, lower) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    };
    let is_set = |row: u16, at: usize| (row >> (SIDE - 1 - at)) & 1 == 1;
    rows.chunks(2).map(|two| (0..SIDE).map(|at| block((is_set(two[0], at), is_set(two[1], at)))).collect()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value};

    use super::*;

    /// A status as its line in creatures.txt says.
    fn standing(line: &str) -> Status {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap_or_default();
        let mut status = Status::unread("ada", String::new());
        status.state = from_value(Value::from(next())).unwrap();
        status.phase = next().to_owned();
        status.vitality = next().parse().unwrap();
        status.mood = next().replace('-', "");
        (status.age, status.lifespan) = (next().parse().unwrap(), next().parse().unwrap());
        status
    }

    #[test]
    fn a_figure_is_drawn_as_the_page_draws_it() {
        let all = include_str!("creatures.txt");
        let mut drawn = 0;
        for block in all.split("\n\n") {
            let (line, wanted) = block.trim_end().split_once('\n').unwrap();
            let rows = creature(&standing(line));
            let letter = |row: &u16, at: usize| if (row >> (SIDE - 1 - at)) & 1 == 1 { '#' } else { '.' };
            let shown: Vec<String> = rows.iter().map(|row| (0..SIDE).map(|at| letter(row, at)).collect()).collect();
            assert_eq!(shown.join("\n"), wanted, "{line}");
            drawn += 1;
        }
        assert!(drawn > 30, "{drawn}");
    }

    #[test]
    fn a_terminal_has_two_rows_of_pixels_in_a_line() {
        let lines = half_blocks(&STONE);
        assert_eq!(
            lines,
            ["   ▄▄▄▄▄▄   ", "  ███▀▀███  ", "  ██▄  ▄██  ", "  ███  ███  ", "  ████████  ", "▄▄████████▄▄"]
        );
    }

    #[test]
    fn every_state_fits_into_its_square() {
        for phase in ["thriving", "stable", "conservation", "declining", "terminal"] {
            for mood in ["neutral", "joy", "fear", "sadness"] {
                for tenth in 0..=10 {
                    for state in ["living", "dreaming", "dead"] {
                        let line = format!("{state} {phase} {} {mood} {} 10", f64::from(tenth) / 10.0, tenth);
                        assert!(creature(&standing(&line)).iter().all(|row| *row < 1 << SIDE), "{line}");
                    }
                }
            }
        }
    }
}
