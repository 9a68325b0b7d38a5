//! Vectors of length one, so that their dot product is the cosine between them.

/// Scales a vector to length one; `None` if it has no direction or holds something that is not a number.
pub(crate) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() || length == 0.0 {
        return None;
    }
    for x in &mut vector {
        *x = (f64::from(*x) / length) as f32;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn a_vector_keeps_its_direction_and_loses_its_length() {
        assert_eq!(unit(vec![3.0, -4.0]), Some(vec![0.6, -0.8]));
        assert_eq!(unit(vec![f32::MAX, 0.0]), Some(vec![1.0, 0.0]));
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for nothing in [vec![], vec![0.0, 0.0], vec![1.0, f32::NAN], vec![f32::INFINITY, 1.0]] {
            assert_eq!(unit(nothing), None);
        }
    }
}
