//! A model's weights, tensor by tensor, out of a safetensors file.

use std::ops::Range;

use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use safetensors::{SafeTensorError, SafeTensors};

use crate::SpeechError;
use crate::kernels::linear::Linear;

/// A safetensors file whose header has been read and found to fit its data.
pub(crate) struct WeightsFile {
    name: &'static str,
    bytes: Vec<u8>,
    data_start: usize,
    metadata: Metadata,
}

/// A matrix or a stack of rows; a vector has one row.
pub(crate) struct WeightTable {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f32>,
}

impl WeightTable {
    pub(crate) fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }
}

/// Rows of int8 codes, whose steps are kept beside them.
pub(crate) struct CodeTable {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    codes: Vec<i8>,
}

impl CodeTable {
    #[inline(always)]
    pub(crate) fn row(&self, index: usize) -> &[i8] {
        &self.codes[index * self.columns..][..self.columns]
    }
}

impl WeightsFile {
    /// `name` is the file's, for errors.
    pub(crate) fn parse(name: &'static str, bytes: Vec<u8>) -> Result<Self, SpeechError> {
        let read = |bytes: &[u8]| {
            // Also checks that the tensors fill the file, one behind the other.
            SafeTensors::deserialize(bytes)?;
            SafeTensors::read_metadata(bytes)
        };
        let (header_len, metadata) = read(&bytes).map_err(|error: SafeTensorError| {
            SpeechError::Model(format!("{name} is not a weights file: {error}"))
        })?;
        Ok(Self {
            name,
            data_start: header_len + 8,
            bytes,
            metadata,
        })
    }

    fn bad(&self, tensor: &str, what: &str) -> SpeechError {
        SpeechError::Model(format!("{}: tensor {tensor} {what}", self.name))
    }

    /// How many numbered parts `prefix.0`, `prefix.1`, ... there are.
    pub(crate) fn count(&self, prefix: &str, suffix: &str) -> usize {
        (0..)
            .take_while(|i| self.has(&format!("{prefix}.{i}.{suffix}")))
            .count()
    }

    fn has(&self, tensor: &str) -> bool {
        self.metadata.info(tensor).is_some()
    }

    fn find(&self, tensor: &str, dtype: Dtype) -> Result<(&TensorInfo, &[u8]), SpeechError> {
        let info = self.metadata.info(tensor);
        let info = info.ok_or_else(|| self.bad(tensor, "is missing"))?;
        if info.dtype != dtype {
            let what = format!("is {:?} instead of {dtype:?}", info.dtype);
            return Err(self.bad(tensor, &what));
        }
        let (from, to) = info.data_offsets;
        let data = &self.bytes[self.data_start..];
        let data = data.get(from..to);
        Ok((info, data.ok_or_else(|| self.bad(tensor, "is cut off"))?))
    }

    /// Rows and columns.
    fn matrix(&self, tensor: &str, info: &TensorInfo) -> Result<(usize, usize), SpeechError> {
        match info.shape[..] {
            [columns] => Ok((1, columns)),
            [rows, columns] => Ok((rows, columns)),
            _ => Err(self.bad(tensor, "is neither a vector nor a matrix")),
        }
    }

    pub(crate) fn table(&self, tensor: &str) -> Result<WeightTable, SpeechError> {
        let (info, data) = self.find(tensor, Dtype::F32)?;
        let (rows, columns) = self.matrix(tensor, info)?;
        Ok(WeightTable {
            rows,
            columns,
            values: floats(data),
        })
    }

    pub(crate) fn codes(&self, tensor: &str) -> Result<CodeTable, SpeechError> {
        let (info, data) = self.find(tensor, Dtype::I8)?;
        let (rows, columns) = self.matrix(tensor, info)?;
        Ok(CodeTable {
            rows,
            columns,
            codes: data.iter().map(|byte| byte.cast_signed()).collect(),
        })
    }

    /// The values of a tensor of any shape.
    pub(crate) fn vector(&self, tensor: &str, length: usize) -> Result<Vec<f32>, SpeechError> {
        let (_, data) = self.find(tensor, Dtype::F32)?;
        let values = floats(data);
        if values.len() != length {
            let what = format!("has {} values instead of {length}", values.len());
            return Err(self.bad(tensor, &what));
        }
        Ok(values)
    }

    /// A single number that says how the network is built.
    pub(crate) fn integer(&self, tensor: &str, range: Range<usize>) -> Result<usize, SpeechError> {
        let (_, data) = self.find(tensor, Dtype::I32)?;
        let bytes = data
            .try_into()
            .map_err(|_| self.bad(tensor, "is not one number"))?;
        let value = i32::from_le_bytes(bytes) as usize;
        if !range.contains(&value) {
            return Err(self.bad(tensor, "is out of range"));
        }
        Ok(value)
    }

    /// A layer of int8 codes with its steps and its bias.
    pub(crate) fn linear(&self, name: &str) -> Result<Linear, SpeechError> {
        self.linear_of(&[name])
    }

    /// Layers over the same input as one. A layer without a bias adds nothing.
    pub(crate) fn linear_of(&self, names: &[&str]) -> Result<Linear, SpeechError> {
        let mut parts = Vec::new();
        let (mut steps, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            let tensor = format!("{name}.codes");
            let (info, data) = self.find(&tensor, Dtype::I8)?;
            let (inputs, outputs) = self.matrix(&tensor, info)?;
            steps.extend(self.vector(&format!("{name}.scale"), outputs)?);
            let bias_name = format!("{name}.bias");
            bias.extend(match self.has(&bias_name) {
                true => self.vector(&bias_name, outputs)?,
                false => vec![0.0; outputs],
            });
            parts.push((inputs, outputs, data));
        }
        let inputs = parts.first().map_or(0, |part| part.0);
        if inputs == 0 || parts.iter().any(|part| part.0 != inputs || part.1 == 0) {
            return Err(self.bad(&names.join(" and "), "do not have one input"));
        }
        let mut codes = Vec::with_capacity(inputs * steps.len());
        for row in 0..inputs {
            for (_, outputs, data) in &parts {
                let row = &data[row * outputs..][..*outputs];
                codes.extend(row.iter().map(|byte| byte.cast_signed()));
            }
        }
        Ok(Linear::new(&codes, inputs, steps, bias))
    }
}

fn floats(data: &[u8]) -> Vec<f32> {
    let (floats, _) = data.as_chunks::<4>();
    floats.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn parsed(header: &str, data: &[u8]) -> WeightsFile {
        WeightsFile::parse("test.safetensors", file(header, data)).unwrap()
    }

    #[test]
    fn a_tensor_comes_back_with_its_shape() {
        let header = r#"{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}"#;
        let data: Vec<u8> = [1.5f32, -2.0]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let weights = parsed(header, &data);
        let table = weights.table("a").unwrap();
        assert_eq!((table.rows, table.columns), (2, 1));
        assert_eq!(table.values, [1.5, -2.0]);
        assert!(weights.table("b").is_err() && weights.vector("a", 3).is_err());
        assert!(weights.linear("a").is_err());
    }

    #[test]
    fn layers_over_one_input_become_one() {
        let header = r#"{"q.codes":{"dtype":"I8","shape":[2,1],"data_offsets":[0,2]},
            "k.codes":{"dtype":"I8","shape":[2,2],"data_offsets":[2,6]},
            "q.scale":{"dtype":"F32","shape":[1],"data_offsets":[6,10]},
            "q.bias":{"dtype":"F32","shape":[1],"data_offsets":[10,14]},
            "k.scale":{"dtype":"F32","shape":[2],"data_offsets":[14,22]}}"#;
        let mut data = vec![1, 2, 3, 4, 5, 6];
        for value in [0.5f32, 9.0, 0.25, 0.125] {
            data.extend(value.to_le_bytes());
        }
        let weights = parsed(header, &data);
        let joined = weights.linear_of(&["q", "k"]).unwrap();
        assert_eq!((joined.inputs(), joined.outputs()), (2, 3));
        assert!(weights.linear_of(&["q", "v"]).is_err() && weights.linear_of(&[]).is_err());
    }

    #[test]
    fn damaged_weights_give_an_error_and_no_panic() {
        let cut = r#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,64]}}"#;
        let outside = r#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}"#;
        for bytes in [
            vec![],
            vec![255; 8],
            vec![255; 64],
            file("{", b""),
            file(cut, &[0; 16]),
            file(outside, &[0; 8]),
        ] {
            let read = WeightsFile::parse("test.safetensors", bytes);
            assert!(matches!(read, Err(SpeechError::Model(_))));
        }
    }
}
