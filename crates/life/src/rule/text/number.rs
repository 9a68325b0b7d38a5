//! Numbers as people write them, so that each reads back as exactly itself.

/// Reads a finite number: sign, digits, decimals, exponent, percent.
pub(super) fn read(text: &str) -> Option<f64> {
    let (digits, shift) = text.strip_suffix('%').map_or((text, 0), |digits| (digits, 2));
    if !digits.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c)) {
        return None;
    }
    // A percentage is a hundredth by its exponent, since dividing would round a second time.
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(shift)?;
    format!("{mantissa}e{exponent}").parse().ok().filter(|number: &f64| number.is_finite())
}

/// A number as people write it, as a percentage where that reads shorter.
pub(super) fn number(value: f64) -> String {
    let plain = plain(value);
    let percent = Some(percent(value)).filter(|percent| value.abs() < 1.0 && percent.len() < plain.len());
    percent.unwrap_or(plain)
}

/// A number without percent, and with an exponent only where all the zeros would be hard to count.
pub(super) fn plain(value: f64) -> String {
    let (long, short) = (format!("{value}"), format!("{value:e}"));
    if long.len() > 16 && short.len() < long.len() { short } else { long }
}

/// A finite number as a percentage.
pub(super) fn percent(value: f64) -> String {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').expect("written with an exponent");
    let exact = format!("{mantissa}e{}", exponent.parse::<i32>().expect("written by us") + 2);
    let pretty = plain(exact.parse().expect("written by us")) + "%";
    if read(&pretty).map(f64::to_bits) == Some(value.to_bits()) { pretty } else { exact + "%" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_written_the_way_people_read_them() {
        let written = [0.0, 5.0, -3.25, 0.5, 0.55, 0.29, 0.015, 0.001, -0.07, 1.5, 3e6, 1e300, 5e-324].map(number);
        let expected =
            ["0", "5", "-3.25", "0.5", "55%", "29%", "1.5%", "0.1%", "-7%", "1.5", "3000000", "1e300", "5e-324"];
        assert_eq!(written, expected);
        assert_eq!([1.0, 0.5, 0.001, 5e-324].map(percent), ["100%", "50%", "0.1%", "5e-322%"]);
    }

    #[test]
    fn signs_decimals_exponents_and_percent_are_read() {
        let read =
            ["+5", "-0.25", ".5", "1e3", "2.5E-2", "1.5%", "-3e2%", "0.1%", "-0"].map(|text| read(text).unwrap());
        assert_eq!(read, [5.0, -0.25, 0.5, 1000.0, 0.025, 0.015, -3.0, 0.001, 0.0]);
    }

    #[test]
    fn what_is_no_finite_number_is_refused() {
        for text in ["", "%", ".", "-", "e5", "5e", "1e5e5", "1,5", "1_000", "5%%", "0x10", "five", "٣"] {
            assert_eq!(read(text), None, "{text}");
        }
        for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e999", "-1e999", "1e99999999999", "1e-2147483648%"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn every_finite_number_reads_back_to_the_bit(bits: u64, cents in -1_000_000_i64..1_000_000) {
            for value in [f64::from_bits(bits), cents as f64 / 10_000.0] {
                if value.is_finite() {
                    prop_assert_eq!(read(&number(value)).map(f64::to_bits), Some(value.to_bits()));
                    prop_assert_eq!(read(&plain(value)).map(f64::to_bits), Some(value.to_bits()));
                    prop_assert_eq!(read(&percent(value)).map(f64::to_bits), Some(value.to_bits()));
                }
            }
        }
    }
}
