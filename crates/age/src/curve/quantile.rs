//! Quantiles of the normal distribution and of Student's.

/// The value below which this part of a normal distribution lies: Acklam's approximation, good to nine digits.
pub fn normal(part: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416];
    let part = part.clamp(1e-12, 1.0 - 1e-12);
    let along = |terms: &[f64], at: f64| terms.iter().fold(0.0, |sum, term| sum * at + term);
    let tail = |part: f64| {
        let at = (-2.0 * part.ln()).sqrt();
        along(&C, at) / (along(&D, at) * at + 1.0)
    };
    if part < 0.024_25 {
        tail(part)
    } else if part > 1.0 - 0.024_25 {
        -tail(1.0 - part)
    } else {
        let from = part - 0.5;
        let at = from * from;
        along(&A, at) * from / (along(&B, at) * at + 1.0)
    }
}

/// The quantile of Student's distribution, by Cornish and Fisher's expansion; good to a per cent from five degrees of freedom on.
pub fn student(part: f64, freedom: f64) -> f64 {
    let (z, n) = (normal(part), freedom.max(1.0));
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    let fourth =
        (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1_482.0 * z.powi(5) - 1_920.0 * z.powi(3) - 945.0 * z) / 92_160.0;
    z + first / n + second / n.powi(2) + third / n.powi(3) + fourth / n.powi(4)
}
