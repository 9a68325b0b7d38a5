//! Small pictures made of characters: a bar, a sparkline, and text that keeps inside its columns.

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
    fn text_stays_inside_its_columns() {
        assert_eq!(wrap("born, lives and dies", 10), ["born,", "lives and", "dies"]);
        assert_eq!(cut("born, lives and dies", 10), "born, liv…");
    }
}
