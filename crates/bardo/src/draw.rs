//! Small pictures made of characters: a bar, a sparkline, lines on a grid of dots, and text that keeps inside its
//! columns.

const EIGHTHS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A share from 0 to 1 as a bar of so many columns.
pub(crate) fn bar(share: f64, columns: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    (0..columns).map(|at| EIGHTHS[eighths.saturating_sub(at * 8).min(8)]).collect()
}

/// How a share from 0 to 1 went, each column the mean of its part of the whole.
pub(crate) fn spark(shares: &[f64], columns: usize) -> String {
    means(shares, columns)
        .map(|share| HEIGHTS[((share.clamp(0.0, 1.0) * 8.0) as usize).min(HEIGHTS.len() - 1)])
        .collect()
}

/// So many means over equal parts; fewer where there is less to show.
pub(crate) fn means(values: &[f64], parts: usize) -> impl Iterator<Item = f64> {
    let parts = parts.min(values.len());
    (0..parts).map(move |at| {
        let part = &values[at * values.len() / parts..(at + 1) * values.len() / parts];
        part.iter().sum::<f64>() / part.len() as f64
    })
}

/// A grid of dots, two by four to a character.
pub(crate) struct Dots {
    columns: usize,
    rows: usize,
    cells: Vec<u8>,
}

impl Dots {
    pub(crate) fn new(columns: usize, rows: usize) -> Dots {
        Dots { columns, rows, cells: vec![0; columns * rows] }
    }

    /// A line through these heights from 0 to 1, over the whole width; every so many-th dot of it.
    pub(crate) fn line(&mut self, heights: &[f64], every: usize) {
        let (width, top) = (self.columns * 2, self.rows * 4 - 1);
        let mut before = None;
        for x in (0..width).filter(|_| !heights.is_empty()) {
            let height = heights[x * heights.len() / width].clamp(0.0, 1.0);
            let y = top - (height * top as f64).round() as usize;
            // Steep parts are joined, so that a line stays one.
            let from: usize = before.replace(y).unwrap_or(y);
            if x % every == 0 {
                let (low, high) = if every > 1 { (y, y) } else { (from.min(y), from.max(y)) };
                (low..=high).for_each(|y| self.dot(x, y));
            }
        }
    }

    fn dot(&mut self, x: usize, y: usize) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        self.cells[y / 4 * self.columns + x / 2] |= BITS[y % 4][x % 2];
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = String> {
        // Empty cells are patterns too: where a font lends them from another, all are equally wide.
        let braille = |bits: &u8| char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' ');
        let row = move |row: &[u8]| row.iter().map(braille).collect::<String>().trim_end_matches('\u{2800}').to_owned();
        self.cells.chunks(self.columns).map(row)
    }
}

/// Lines of at most so many columns, broken between words.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// One line of at most so many columns.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let short: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{}…", short.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(0.0, 4), "    ");
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(0.53, 4), "██▏ ");
        assert_eq!(bar(7.0, 4), "████");
    }

    #[test]
    fn a_sparkline_shows_means_and_never_more_than_there_is() {
        assert_eq!(spark(&[0.0, 0.0, 1.0, 1.0], 2), "▁█");
        assert_eq!(spark(&[0.5], 60), "▅");
        assert_eq!(spark(&[], 60), "");
    }

    #[test]
    fn a_line_of_dots_goes_from_where_it_was_to_where_it_is() {
        let mut dots = Dots::new(2, 1);
        dots.line(&[0.0, 0.0, 1.0, 1.0], 1);
        assert_eq!(dots.rows().collect::<Vec<_>>(), ["⣀⡏"]);
        let mut dots = Dots::new(3, 1);
        dots.line(&[1.0], 2);
        assert_eq!(dots.rows().collect::<Vec<_>>(), ["⠁⠁⠁"]);
    }

    #[test]
    fn text_stays_inside_its_columns() {
        assert_eq!(wrap("born, lives and dies", 10), ["born,", "lives and", "dies"]);
        assert_eq!(cut("born, lives and dies", 10), "born, liv…");
    }
}
