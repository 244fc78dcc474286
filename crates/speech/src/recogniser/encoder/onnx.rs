//! Reads the constant tensors of an ONNX file. The graph in it serves other runtimes; here the
//! network is written out in Rust and only wants its weights.

use std::collections::HashMap;

use crate::SpeechError;
use crate::kernels::linear::Linear;

const GRAPH: u64 = 7;
const INITIALIZER: u64 = 5;
const DIMS: u64 = 1;
const DATA_TYPE: u64 = 2;
const NAME: u64 = 8;
const RAW_DATA: u64 = 9;
const FLOAT: u64 = 1;
const INT8: u64 = 3;

/// The tensors of a file by name.
pub struct Tensors<'a> {
    by_name: HashMap<&'a str, Tensor<'a>>,
}

struct Tensor<'a> {
    data_type: u64,
    elements: usize,
    bytes: &'a [u8],
}

impl<'a> Tensors<'a> {
    pub fn parse(file: &'a [u8]) -> Result<Self, SpeechError> {
        Self::read(file).ok_or_else(|| SpeechError::Model("the encoder's file is damaged".into()))
    }

    fn read(file: &'a [u8]) -> Option<Self> {
        let mut by_name = HashMap::new();
        for field in fields(file) {
            let (GRAPH, Value::Bytes(graph)) = field? else {
                continue;
            };
            for field in fields(graph) {
                if let (INITIALIZER, Value::Bytes(tensor)) = field? {
                    let (name, tensor) = Tensor::read(tensor)?;
                    by_name.insert(name, tensor);
                }
            }
        }
        Some(Self { by_name })
    }

    fn get(&self, name: &str, data_type: u64, elements: usize) -> Result<&'a [u8], SpeechError> {
        self.by_name
            .get(name)
            .filter(|tensor| tensor.data_type == data_type && tensor.elements == elements)
            .map(|tensor| tensor.bytes)
            .ok_or_else(|| {
                SpeechError::Model(format!(
                    "the encoder's file lacks {name} of {elements} values"
                ))
            })
    }

    pub fn floats(&self, name: &str, elements: usize) -> Result<Vec<f32>, SpeechError> {
        let bytes = self.get(name, FLOAT, elements)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect())
    }

    fn codes(&self, name: &str, elements: usize) -> Result<Vec<i8>, SpeechError> {
        let bytes = self.get(name, INT8, elements)?;
        Ok(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    /// Layers over the same input as one; the flag says whether a layer has a bias.
    pub fn linear(
        &self,
        names: &[(&str, bool)],
        inputs: usize,
        outputs_each: usize,
    ) -> Result<Linear, SpeechError> {
        let outputs = outputs_each * names.len();
        let mut codes = vec![0i8; inputs * outputs];
        let (mut steps, mut bias) = (Vec::new(), Vec::new());
        for (part, (name, has_bias)) in names.iter().enumerate() {
            let weight = self.codes(&format!("{name}.weight"), inputs * outputs_each)?;
            let rows = codes.chunks_exact_mut(outputs);
            for (to, from) in rows.zip(weight.chunks_exact(outputs_each)) {
                to[part * outputs_each..][..outputs_each].copy_from_slice(from);
            }
            steps.extend(self.floats(&format!("{name}.scale"), outputs_each)?);
            bias.extend(match has_bias {
                true => self.floats(&format!("{name}.bias"), outputs_each)?,
                false => vec![0.0; outputs_each],
            });
        }
        Ok(Linear::new(&codes, inputs, steps, bias))
    }
}

impl<'a> Tensor<'a> {
    fn read(message: &'a [u8]) -> Option<(&'a str, Self)> {
        let (mut name, mut data_type, mut bytes) = ("", 0, &[][..]);
        let mut elements = 1usize;
        for field in fields(message) {
            match field? {
                (DIMS, Value::Number(size)) => {
                    elements = elements.checked_mul(usize::try_from(size).ok()?)?;
                }
                (DIMS, Value::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        let size = varint(&mut packed)?;
                        elements = elements.checked_mul(usize::try_from(size).ok()?)?;
                    }
                }
                (DATA_TYPE, Value::Number(value)) => data_type = value,
                (NAME, Value::Bytes(text)) => name = std::str::from_utf8(text).ok()?,
                (RAW_DATA, Value::Bytes(raw)) => bytes = raw,
                _ => {}
            }
        }
        let width = match data_type {
            FLOAT => 4,
            INT8 => 1,
            _ => 0,
        };
        let whole = width == 0 || elements.checked_mul(width)? == bytes.len();
        let tensor = Self {
            data_type,
            elements,
            bytes,
        };
        whole.then_some((name, tensor))
    }
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a protobuf message; `None` where it is damaged, and nothing after.
fn fields(mut message: &[u8]) -> impl Iterator<Item = Option<(u64, Value<'_>)>> {
    std::iter::from_fn(move || {
        if message.is_empty() {
            return None;
        }
        let field = next_field(&mut message);
        if field.is_none() {
            message = &[];
        }
        Some(field)
    })
}

fn next_field<'a>(message: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = varint(message)?;
    let value = match key & 7 {
        0 => Value::Number(varint(message)?),
        1 => Value::Bytes(take(message, 8)?),
        2 => {
            let len = usize::try_from(varint(message)?).ok()?;
            Value::Bytes(take(message, len)?)
        }
        5 => Value::Bytes(take(message, 4)?),
        _ => return None,
    };
    Some((key >> 3, value))
}

fn take<'a>(message: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = message.split_at_checked(len)?;
    *message = tail;
    Some(head)
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = message.split_first()?;
        *message = tail;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_found_by_name() {
        // graph { initializer { dims: 2 data_type: FLOAT name: "a" raw_data: 1.0, 2.0 } }
        let mut tensor = vec![0x08, 2, 0x10, 1, 0x42, 1, b'a', 0x4a, 8];
        tensor.extend(1f32.to_le_bytes());
        tensor.extend(2f32.to_le_bytes());
        let mut graph = vec![0x2a, tensor.len() as u8];
        graph.extend(&tensor);
        let mut file = vec![0x08, 9, 0x3a, graph.len() as u8];
        file.extend(&graph);
        let tensors = Tensors::parse(&file).unwrap();
        assert_eq!(tensors.floats("a", 2).unwrap(), [1.0, 2.0]);
        assert!(tensors.floats("a", 3).is_err());
        assert!(tensors.codes("a", 2).is_err());
        assert!(tensors.floats("b", 2).is_err());
        for len in 1..file.len() {
            assert!(Tensors::parse(&file[..len]).map_or(true, |t| t.floats("a", 2).is_err()));
        }
    }
}
