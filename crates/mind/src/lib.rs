//! Clients of the models a golem thinks with. For now: text into vectors, so that what was learned can be
//! found again by meaning.
//!
//! [`Served`] asks any OpenAI-compatible server, a keyless one on the same machine first of all. `Local`, behind
//! the feature `local`, runs a small sentence model inside the process.
//!
//! Nearness is for finding, never for deciding that two pieces of knowledge say the same: to a good small model,
//! "gas drops below 10 gwei" lies nearer to "gas rises above 10 gwei" than to "gas price falls under ten gwei".

mod address;
mod answer;
mod error;
mod key;
#[cfg(feature = "local")]
mod local;
mod served;
mod texts;

pub use error::Error;
#[cfg(feature = "local")]
pub use local::Local;
pub use served::{Served, ServedConfig};
pub use texts::{BATCH, BATCH_BYTES, TEXT_BYTES};

/// Turns text into vectors of length one, so that their dot product is the cosine between them.
pub trait Embedder: Send + Sync {
    /// Whose vectors these are. Vectors of two models cannot be compared; keep the name beside them.
    fn model(&self) -> &str;

    /// How long each vector is; none as long as the model has not been asked.
    fn dimensions(&self) -> Option<usize>;

    /// One vector per text, in order. Either all of them or an error.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error>;
}

/// Scales a vector to length one; none if it has no direction or holds something that is no number.
fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
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
