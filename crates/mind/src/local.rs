//! A sentence model of the BERT family inside the process: no server, no network, and the same vectors next year.
//!
//! A folder holds it as such models are usually published: `config.json`, `tokenizer.json`, `model.safetensors`.
//! The vector of a text is the mean over its tokens, the padding left out. A model of another kind would also give
//! vectors that way, wrong ones, so a folder that asks for something else is refused.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use serde::Deserialize;
use tariff::printable;
use tokenizers::{Encoding, PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

use crate::vector::unit;
use crate::{Embedder, Error, texts};

/// Tokens of a text that are read; the rest is left out.
const TOKENS: usize = 256;
/// Texts that go through the model together.
const BATCH: usize = 16;

/// A model in memory, about as large as its file.
pub struct Local {
    folder: PathBuf,
    name: String,
    dimensions: usize,
    tokenizer: Tokenizer,
    bert: BertModel,
}

/// The folder's setting of how tokens become one vector.
#[derive(Deserialize)]
struct Pooling {
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

impl Local {
    /// Reads the whole model, which takes a moment.
    pub fn open(folder: &Path) -> Result<Local, Error> {
        let wrong = |why: String| Error::Model { folder: folder.to_owned(), why: printable(&why) };
        let read = |name: &str| fs::read(folder.join(name)).map_err(|why| wrong(format!("{name}: {why}")));
        let parts = ["config.json", "tokenizer.json", "model.safetensors"];
        let [config, tokenizer, weights] = [read(parts[0])?, read(parts[1])?, read(parts[2])?];
        let name = name(&[&config, &tokenizer, &weights]);
        let said = |part: usize, why: &dyn fmt::Display| wrong(format!("{}: {why}", parts[part]));

        let config: Config = serde_json::from_slice(&config).map_err(|why| said(0, &why))?;
        if config.model_type.as_deref() != Some("bert") {
            let kind = config.model_type.as_deref().unwrap_or("unnamed");
            return Err(said(0, &format!("its kind is {kind}, and only bert is supported")));
        }
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return Err(said(0, &"its heads do not divide its size"));
        }
        check_pooling(folder).map_err(wrong)?;

        let mut tokenizer = Tokenizer::from_bytes(&tokenizer).map_err(|why| said(1, &why))?;
        let max_length = TOKENS.min(config.max_position_embeddings);
        let truncation = TruncationParams { max_length, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(|why| said(1, &why))?;
        let pad_id = u32::try_from(config.pad_token_id).map_err(|why| said(0, &why))?;
        let strategy = PaddingStrategy::BatchLongest;
        tokenizer.with_padding(Some(PaddingParams { strategy, pad_id, ..PaddingParams::default() }));

        let tensors = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu);
        let bert = tensors.and_then(|tensors| BertModel::load(tensors, &config)).map_err(|why| said(2, &why))?;
        Ok(Local { folder: folder.to_owned(), name, dimensions: config.hidden_size, tokenizer, bert })
    }

    fn run(&self, batch: Vec<&str>) -> Result<Vec<Vec<f32>>, Error> {
        let encoded = self.tokenizer.encode_batch(batch, true).map_err(|why| self.wrong(&why))?;
        let means = self.means(&encoded).map_err(|why| self.wrong(&why))?;
        let units = means.into_iter().map(unit).collect::<Option<Vec<_>>>();
        units.ok_or_else(|| self.wrong(&"it gives vectors that hold no direction; its weights are damaged"))
    }

    /// The mean of each text over its own tokens.
    fn means(&self, encoded: &[Encoding]) -> candle_core::Result<Vec<Vec<f32>>> {
        let tensor = |rows: fn(&Encoding) -> &[u32]| {
            let flat: Vec<u32> = encoded.iter().flat_map(|text| rows(text).iter().copied()).collect();
            Tensor::from_vec(flat, (encoded.len(), encoded.first().map_or(0, Encoding::len)), &Device::Cpu)
        };
        let mask = tensor(Encoding::get_attention_mask)?;
        let hidden = self.bert.forward(&tensor(Encoding::get_ids)?, &tensor(Encoding::get_type_ids)?, Some(&mask))?;
        let mask = mask.to_dtype(DType::F32)?.unsqueeze(2)?;
        hidden.broadcast_mul(&mask)?.sum(1)?.broadcast_div(&mask.sum(1)?)?.to_vec2()
    }

    fn wrong(&self, why: &dyn fmt::Display) -> Error {
        Error::Model { folder: self.folder.clone(), why: printable(&why.to_string()) }
    }
}

impl Embedder for Local {
    /// A name made from the files themselves: the same wherever the folder lies, another once a byte in it changes.
    fn model(&self) -> &str {
        &self.name
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.dimensions)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        texts::check(texts)?;
        // A batch is as long as its longest text, so texts go through the model beside others of their length.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&place| texts[place].len());
        let mut all = vec![Vec::new(); texts.len()];
        for places in order.chunks(BATCH) {
            let batch: Vec<&str> = places.iter().map(|&place| texts[place]).collect();
            for (&place, vector) in places.iter().zip(self.run(batch)?) {
                all[place] = vector;
            }
        }
        Ok(all)
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Local");
        shown.field("folder", &self.folder).field("name", &self.name).field("dimensions", &self.dimensions);
        shown.finish_non_exhaustive()
    }
}

fn name(files: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(&(file.len() as u64).to_le_bytes()).update(file);
    }
    format!("bert-{}", &hasher.finalize().to_hex()[..16])
}

/// Refuses a folder whose setting for making one vector of its tokens is other than their mean.
fn check_pooling(folder: &Path) -> Result<(), String> {
    let file = "1_Pooling/config.json";
    let text = match fs::read(folder.join(file)) {
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        text => text.map_err(|why| format!("{file}: {why}"))?,
    };
    let pooling: Pooling = serde_json::from_slice(&text).map_err(|why| format!("{file}: {why}"))?;
    if !pooling.pooling_mode_mean_tokens {
        return Err(format!(
            "{file}: it asks for something other than the mean over the tokens, which is all that is supported"
        ));
    }
    Ok(())
}
