//! WAV in and out. The reader is our own because recordings from the field break the rules that general readers rely on:
//! placeholder sizes of streamed files, RF64, odd containers, truncated ends. AIFF and AU hold the same samples.

mod adpcm;
mod header;
mod reader;
mod writer;

pub(crate) use reader::{decode, decode_au};
pub(crate) use writer::{WavCoding, write_header};
