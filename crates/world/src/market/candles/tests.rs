//! Every way of writing candles, and every way of getting them wrong.

use std::io::Write;

use super::*;

fn read(text: &str) -> (Candles, Report) {
    match parse(text.as_bytes()) {
        Ok(read) => read,
        Err(Wrong::Content(why)) => panic!("{why}"),
        Err(Wrong::Io(error)) => panic!("{error}"),
    }
}

fn refused(text: &str) -> String {
    match parse(text.as_bytes()) {
        Err(Wrong::Content(why)) => why,
        _ => panic!("taken as candles: {text}"),
    }
}

const PLAIN: &str = "ts,open,high,low,close,volume\n\
    1577836800,10,12,9,11,100\n\
    1577840400,11,11.5,10,10.5,80\n\
    1577844000,10.5,10.5,10.5,10.5,0\n";

#[test]
fn the_same_candles_come_from_every_way_of_writing_them() {
    let (candles, report) = read(PLAIN);
    assert_eq!((candles.bars().len(), candles.interval()), (3, Span::seconds(3_600)));
    assert_eq!((report.problems.len(), report.gaps.len()), (0, 0));
    assert_eq!(report.until, Time::seconds(1_577_847_600));

    let millis = PLAIN.replace("00,1", "00000,1");
    assert_eq!(read(&millis).0, candles);
    let bare = PLAIN.split_once('\n').unwrap().1;
    assert_eq!(read(bare).0, candles);
    let windows = format!("\u{feff}{}", PLAIN.replace('\n', "\r\n"));
    assert_eq!(read(&windows).0, candles);
    let klines = "Open time,Open,High,Low,Close,Volume,Close time,a,b,c,d,e\n\
        1577836800000000,10,12,9,11,100,1577840399999999,1,1,1,1,0\n\
        1577840400000,11,11.5,10,10.5,80,1577843999999,1,1,1,1,0\n\
        1577844000000000,10.5,10.5,10.5,10.5,0,1577847599999999,1,1,1,1,0\n";
    assert_eq!(read(klines).0, candles);
    assert_eq!(read(klines.split_once('\n').unwrap().1).0, candles);
}

#[test]
fn zipped_is_as_good_as_plain_whatever_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, zipped) = (folder.path().join("a.csv.gz"), folder.path().join("b.csv"));
    std::fs::write(&plain, PLAIN).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(File::create(&zipped).unwrap(), flate2::Compression::fast());
    encoder.write_all(PLAIN.as_bytes()).unwrap();
    encoder.finish().unwrap();
    assert_eq!(Candles::read(&plain).unwrap(), Candles::read(&zipped).unwrap());

    let torn = std::fs::read(&zipped).unwrap();
    std::fs::write(&zipped, &torn[..torn.len() - 12]).unwrap();
    assert!(matches!(Candles::read(&zipped), Err(Error::Io { .. })));
}

#[test]
fn a_file_of_prices_is_candles_without_a_body() {
    let (candles, _) = read("ts,price\n0,1.5\n60,2\n120,3\n");
    let second =
        Candle { opened: Time::seconds(60), open: 2.0, high: 2.0, low: 2.0, close: 2.0, volume: 0.0, gas: 0.0 };
    assert_eq!(candles.bars()[1], second);
    assert!(!candles.volume_known());
}

#[test]
fn every_bad_row_is_named_by_line_and_reason_and_left_out() {
    let good = |hour: u64| format!("{},10,12,9,11,100", 1_577_836_800 + hour * 3_600);
    let rows = [
        (good(0), ""),
        ("soon,10,12,9,11,100".to_owned(), "the time is not a timestamp"),
        ("-5,10,12,9,11,100".to_owned(), "the time is not a timestamp"),
        (good(1), ""),
        (good(1), "its time is that of the row before"),
        (good(0), "its time is before that of the row before"),
        (good(2).replace(",12,", ",,"), "the high is not a number"),
        (good(2).replace(",11,", ",NaN,"), "a number is not finite"),
        (good(2).replace(",100", ",inf"), "a number is not finite"),
        (good(2).replace(",100", ",-1"), "the volume is below zero"),
        (good(2).replace(",100", ""), "the volume is not a number"),
        (good(2).replace(",9,", ",0,"), "a price is not above zero"),
        (good(2).replace(",12,", ",2e9,"), "a price is above a billion dollars"),
        (good(2).replace(",12,", ",8,"), "the high is below the low"),
        (good(2).replace(",10,", ",13,"), "the open lies outside low and high"),
        (good(2).replace(",11,", ",8.9,"), "the close lies outside low and high"),
        (good(2), ""),
        (good(900), "its time is after that of the row after it"),
        (good(3), ""),
        (good(3).replace("600,", "900,").replace("1577847", "1577848"), "it opens before the bar before it has closed"),
        (good(4), ""),
    ];
    let text: String = rows.iter().map(|(row, _)| format!("{row}\n")).collect();
    let (candles, report) = read(&format!("ts,open,high,low,close,volume\n{text}"));
    let expected: Vec<Problem> = rows
        .iter()
        .enumerate()
        .filter(|(_, (_, why))| !why.is_empty())
        .map(|(at, (_, why))| Problem { line: at as u64 + 2, why })
        .collect();
    assert_eq!(report.problems, expected);
    assert_eq!((candles.bars().len(), report.gaps.len()), (5, 0));
    assert_eq!((report.rows, report.bars), (21, 5));
}

#[test]
fn gaps_are_measured_and_stay_gaps() {
    let text: String = [0, 1, 2, 5, 6, 8].iter().map(|minute| format!("{},7\n", minute * 60)).collect();
    let (candles, report) = read(&format!("ts,price\n{text}"));
    let at = |minute: u64| Time::seconds(minute * 60);
    assert_eq!(report.gaps, [Gap { from: at(3), to: at(5), missing: 2 }, Gap { from: at(7), to: at(8), missing: 1 }]);
    assert_eq!(candles.bars().len(), 6);
}

#[test]
fn what_is_not_candles_is_refused_with_the_reason() {
    assert_eq!(refused(""), "it is empty");
    assert_eq!(refused("ts,open\n1,2\n"), "no column is named close or price in its header 'ts,open'");
    assert!(refused("when,close\n1,2\n").starts_with("no column is named ts"));
    assert!(refused("1,2,3\n").starts_with("it has no header, and 3 columns"));
    let backwards = "ts,price\n180,1\n120,1\n60,1\n";
    assert_eq!(
        refused(backwards),
        "fewer than two of its 3 rows are usable; line 2: its time is after that of the row after it"
    );
}
