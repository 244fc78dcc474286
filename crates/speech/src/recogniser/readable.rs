//! Capitals and marks for words as they were heard: a small network over the words' letters and the pauses between
//! them. It decides what goes around a word and never which word it is.
//!
//! Trained by `training/recogniser/readable.py`; what a piece of a word is must be the same there.

use std::path::Path;
use std::sync::Arc;

use crate::SpeechError;
use crate::kernels::simd::{dot, sigmoid, tanh, vectorised};
use crate::model_folder::ModelFolder;
use crate::weights::{CodeTable, WeightTable, WeightsFile};

pub(super) const FILE: &str = "readable.safetensors";
const WIDTH: usize = 128;
const STATE: usize = 256;
const GATES: usize = 3 * STATE;
const PIECES_MAX: usize = 48;
const PIECE_LETTERS: [usize; 3] = [3, 4, 5];
/// Pauses of a kind: shorter than the first, than the second, ... and the end of what was said.
const PAUSE_STEPS_MS: [u32; 7] = [100, 180, 280, 400, 560, 800, 1200];
const END: usize = PAUSE_STEPS_MS.len() + 1;
/// Words with capitals inside.
const SPELLED: [&str; 14] = [
    "ChromeOS",
    "DStv",
    "GitHub",
    "JavaScript",
    "LinkedIn",
    "McCain",
    "OneDrive",
    "ProPublica",
    "SpaceX",
    "SportPesa",
    "TikTok",
    "WeChat",
    "WhatsApp",
    "YouTube",
];

/// A word and the silence after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeardWord<'a> {
    pub text: &'a str,
    pub pause_after_ms: u32,
}

/// What words are a part of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextPlace {
    /// So many of the first words are only there to be gone on from.
    pub before: usize,
    /// Nothing more was said; otherwise the sentence may go on.
    pub ends: bool,
}

impl TextPlace {
    /// All that was said.
    pub const WHOLE: Self = Self {
        before: 0,
        ends: true,
    };
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mark {
    None,
    Comma,
    Stop,
    Question,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Case {
    Lower,
    Capital,
    Upper,
}

/// The network. Clones share the weights.
#[derive(Clone)]
pub struct ReadableModel(Arc<ReadableNetwork>);

struct ReadableNetwork {
    pieces: CodeTable,
    piece_steps: Vec<f32>,
    pauses: WeightTable,
    layers: [[GruDirection; 2]; 2],
    marks: Output,
    cases: Output,
}

struct Output {
    weight: WeightTable,
    bias: Vec<f32>,
}

/// One direction of a layer of gated recurrent units.
struct GruDirection {
    input: Layer,
    state: Layer,
}

/// y = W x + b for one x at a time: too little for a product that is shared out over threads.
struct Layer {
    /// A row of outputs for each input.
    codes: CodeTable,
    steps: Vec<f32>,
    bias: Vec<f32>,
}

impl ReadableModel {
    /// Reads the models folder's file, for use without the recogniser.
    pub fn open(models_dir: &Path) -> Result<Self, SpeechError> {
        let folder = ModelFolder::recogniser(models_dir)?;
        Self::load(WeightsFile::parse(FILE, folder.read(FILE)?)?)
    }

    pub(super) fn load(file: WeightsFile) -> Result<Self, SpeechError> {
        let bad = |what: &str| SpeechError::Model(format!("{FILE}: {what}"));
        let layer = |name: &str, inputs: usize| {
            let codes = file.codes(&format!("gru.{name}.codes"))?;
            if (codes.rows, codes.columns) != (inputs, GATES) {
                return Err(bad(&format!("layer {name} has another shape")));
            }
            Ok(Layer {
                codes,
                steps: file.vector(&format!("gru.{name}.scale"), GATES)?,
                bias: file.vector(&format!("gru.{name}.bias"), GATES)?,
            })
        };
        let direction = |name: &str, inputs: usize| {
            Ok::<_, SpeechError>(GruDirection {
                input: layer(&format!("ih_{name}"), inputs)?,
                state: layer(&format!("hh_{name}"), STATE)?,
            })
        };
        let output = |name: &str, outputs: usize| {
            let weight = file.table(&format!("{name}.weight"))?;
            let bias = file.vector(&format!("{name}.bias"), outputs)?;
            match (weight.rows, weight.columns) == (outputs, 2 * STATE) {
                true => Ok(Output { weight, bias }),
                false => Err(bad(&format!("{name} has another shape"))),
            }
        };
        let pieces = file.codes("table.codes")?;
        let pauses = file.table("pause")?;
        if pieces.rows == 0
            || pieces.columns != WIDTH
            || (pauses.rows, pauses.columns) != (END + 1, WIDTH)
        {
            return Err(bad("the words or the pauses have another width"));
        }
        Ok(Self(Arc::new(ReadableNetwork {
            piece_steps: file.vector("table.scale", pieces.rows)?,
            pieces,
            pauses,
            layers: [
                [direction("l0", WIDTH)?, direction("l0_reverse", WIDTH)?],
                [
                    direction("l1", 2 * STATE)?,
                    direction("l1_reverse", 2 * STATE)?,
                ],
            ],
            marks: output("marks", 4)?,
            cases: output("case", 3)?,
        })))
    }

    /// Each word with its capitals and the mark behind it, those of `place.before` left out.
    pub fn written(&self, words: &[HeardWord<'_>], place: TextPlace) -> Vec<String> {
        let before = place.before.min(words.len());
        let mut opens = before == 0;
        let mut out = Vec::with_capacity(words.len() - before);
        let decisions = self.0.decide(words, place.ends);
        for (word, (mark, case)) in words.iter().zip(decisions).skip(before) {
            let mut text = cased(word.text, case, opens);
            text.push_str(match mark {
                Mark::None => "",
                Mark::Comma => ",",
                Mark::Stop => ".",
                Mark::Question => "?",
            });
            opens = matches!(mark, Mark::Stop | Mark::Question);
            out.push(text);
        }
        out
    }
}

fn cased(word: &str, case: Case, opens: bool) -> String {
    let cased = match case {
        Case::Lower if !opens => return word.to_owned(),
        Case::Upper => word.to_uppercase(),
        Case::Lower | Case::Capital => {
            let spelled = SPELLED.iter().find(|name| name.to_lowercase() == word);
            spelled.map_or_else(|| capitalised(word), |name| (*name).to_owned())
        }
    };
    // A few letters have no capital of their own and would become others.
    match cased.to_lowercase() == word.to_lowercase() {
        true => cased,
        false => word.to_owned(),
    }
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

impl ReadableNetwork {
    fn decide(&self, words: &[HeardWord<'_>], ends: bool) -> Vec<(Mark, Case)> {
        let end = if ends { words.len() } else { usize::MAX };
        let scores = self.scores(words, ends).into_iter().enumerate();
        scores
            .map(
                |(i, ([none, comma, stop, question], [lower, capital, upper]))| {
                    let marks = [
                        (Mark::Stop, stop),
                        (Mark::Question, question),
                        (Mark::None, none),
                        (Mark::Comma, comma),
                    ];
                    // Whoever has said everything has ended a sentence.
                    let marks = if i + 1 == end { &marks[..2] } else { &marks };
                    let cases = [
                        (Case::Lower, lower),
                        (Case::Capital, capital),
                        (Case::Upper, upper),
                    ];
                    (best(marks), best(&cases))
                },
            )
            .collect()
    }

    /// For each word, what speaks for no mark, a comma, a full stop, a question mark; and for each case.
    fn scores(&self, words: &[HeardWord<'_>], ends: bool) -> Vec<([f32; 4], [f32; 3])> {
        let mut rows = vec![0.0; words.len() * WIDTH];
        for (i, (word, row)) in words.iter().zip(rows.chunks_exact_mut(WIDTH)).enumerate() {
            let pause = match ends && i + 1 == words.len() {
                true => END,
                false => PAUSE_STEPS_MS.partition_point(|step| *step <= word.pause_after_ms),
            };
            self.put_word(word.text, row);
            add(self.pauses.row(pause), row);
        }
        let states = self.states(rows);
        let states = states.chunks_exact(2 * STATE);
        states
            .map(|state| (self.marks.scores(state), self.cases.scores(state)))
            .collect()
    }

    /// Both layers: each word's state from the words before it and from those after it.
    fn states(&self, mut rows: Vec<f32>) -> Vec<f32> {
        for [forward, backward] in &self.layers {
            let count = rows.len() / forward.input.codes.rows;
            let mut out = vec![0.0; count * 2 * STATE];
            forward.run(&rows, 0..count, &mut out, 0);
            backward.run(&rows, (0..count).rev(), &mut out, STATE);
            rows = out;
        }
        rows
    }

    /// The sum of its pieces' rows: the word itself twice over, and its letters three to five at a time.
    fn put_word(&self, word: &str, row: &mut [f32]) {
        let pieces = pieces(word, self.pieces.rows);
        let (whole, parts) = pieces.split_at(2);
        let share = 1.0 / (parts.len().max(1) as f32).sqrt();
        for (piece, factor) in whole
            .iter()
            .map(|piece| (*piece, 1.0))
            .chain(parts.iter().map(|piece| (*piece, share)))
        {
            let factor = factor * self.piece_steps[piece];
            for (out, code) in row.iter_mut().zip(self.pieces.row(piece)) {
                *out += factor * f32::from(*code);
            }
        }
    }
}

/// Rows of the table.
fn pieces(word: &str, rows: usize) -> Vec<usize> {
    let as_zero = |c: char| if c.is_numeric() { '0' } else { c };
    let mut edged = String::from("<");
    edged.extend(word.chars().map(as_zero));
    edged.push('>');
    let starts: Vec<usize> = edged
        .char_indices()
        .map(|(at, _)| at)
        .chain([edged.len()])
        .collect();
    let mut pieces = vec![hash(&edged, 1) % rows, hash(&edged, 2) % rows];
    for letters in PIECE_LETTERS {
        let windows = starts.windows(letters + 1);
        pieces.extend(windows.map(|at| hash(&edged[at[0]..at[letters]], 0) % rows));
    }
    pieces.truncate(PIECES_MAX);
    pieces
}

/// FNV-1a, whose low bits mix badly.
fn hash(text: &str, seed: u32) -> usize {
    let mut value = 0x811C_9DC5 ^ seed;
    for byte in text.bytes() {
        value = (value ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    (value ^ (value >> 15)) as usize
}

fn best<T: Copy>(scored: &[(T, f32)]) -> T {
    let better = |best: (T, f32), next: &(T, f32)| if next.1 > best.1 { *next } else { best };
    scored[1..].iter().fold(scored[0], better).0
}

fn add(values: &[f32], out: &mut [f32]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out += value;
    }
}

impl Output {
    fn scores<const N: usize>(&self, state: &[f32]) -> [f32; N] {
        std::array::from_fn(|i| {
            vectorised(
                #[inline(always)]
                || dot(self.weight.row(i), state),
            ) + self.bias[i]
        })
    }
}

impl GruDirection {
    /// Goes through the rows in this order and writes each state into its row of `out`, from `column` on.
    fn run(
        &self,
        rows: &[f32],
        order: impl Iterator<Item = usize>,
        out: &mut [f32],
        column: usize,
    ) {
        let inputs = self.input.codes.rows;
        let (mut given, mut kept) = ([0f32; GATES], [0f32; GATES]);
        let mut state = [0f32; STATE];
        for at in order {
            vectorised(
                #[inline(always)]
                || {
                    self.input.apply(&rows[at * inputs..][..inputs], &mut given);
                    self.state.apply(&state, &mut kept);
                    step(&given, &kept, &mut state);
                },
            );
            out[at * 2 * STATE + column..][..STATE].copy_from_slice(&state);
        }
    }
}

impl Layer {
    #[inline(always)]
    fn apply(&self, input: &[f32], out: &mut [f32; GATES]) {
        out.fill(0.0);
        for (at, x) in input.iter().enumerate() {
            for (out, code) in out.iter_mut().zip(self.codes.row(at)) {
                *out += x * f32::from(*code);
            }
        }
        for ((out, step), bias) in out.iter_mut().zip(&self.steps).zip(&self.bias) {
            *out = *out * step + bias;
        }
    }
}

/// Reset, update and new, in this order, as the framework lays them out.
#[inline(always)]
fn step(given: &[f32; GATES], kept: &[f32; GATES], state: &mut [f32; STATE]) {
    for i in 0..STATE {
        let reset = sigmoid(given[i] + kept[i]);
        let update = sigmoid(given[STATE + i] + kept[STATE + i]);
        let new = tanh(given[2 * STATE + i] + reset * kept[2 * STATE + i]);
        state[i] = (1.0 - update) * new + update * state[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    fn model() -> ReadableModel {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        ReadableModel::open(&models).unwrap()
    }

    /// "|" stands for a clause's pause, "/" for a sentence's.
    fn heard(text: &str) -> Vec<HeardWord<'_>> {
        let mut words: Vec<HeardWord<'_>> = Vec::new();
        for text in text.split_whitespace() {
            let pause_after_ms = match text {
                "|" => 400,
                "/" => 900,
                _ => 40,
            };
            match words.last_mut() {
                Some(last) if pause_after_ms > 40 => last.pause_after_ms = pause_after_ms,
                _ => words.push(HeardWord {
                    text,
                    pause_after_ms,
                }),
            }
        }
        words
    }

    fn written(model: &ReadableModel, text: &str) -> String {
        model.written(&heard(text), TextPlace::WHOLE).join(" ")
    }

    #[test]
    fn words_and_pauses_become_sentences() {
        let model = model();
        for (said, expected) in [
            (
                "habari za leo / karibu nairobi",
                "Habari za leo? Karibu Nairobi.",
            ),
            (
                "juma anaishi dar es salaam | karibu na bahari / anapenda kuogelea",
                "Juma anaishi Dar es Salaam, karibu na bahari. Anapenda kuogelea.",
            ),
            (
                "jina lako ni nani / mimi ninaitwa asha",
                "Jina lako ni nani? Mimi ninaitwa Asha.",
            ),
            ("unaendeleaje", "Unaendeleaje?"),
            ("nilienda / na / mama", "Nilienda na mama."),
            (
                "what is your name / my name is peter",
                "What is your name? My name is Peter.",
            ),
        ] {
            assert_eq!(written(&model, said), expected);
        }
    }

    #[test]
    fn what_was_said_before_is_gone_on_from() {
        let model = model();
        let words = heard("watu wengi walifika mapema asubuhi");
        let place = TextPlace {
            before: 3,
            ends: true,
        };
        assert_eq!(model.written(&words, place), ["mapema", "asubuhi."]);
        let place = TextPlace {
            before: 0,
            ends: false,
        };
        assert_eq!(
            model.written(&words[..3], place),
            ["Watu", "wengi", "walifika"]
        );
        assert!(model.written(&[], TextPlace::WHOLE).is_empty());
    }

    /// As the framework computed them; `training/recogniser/readable.py` makes the file.
    #[test]
    fn scores_are_those_of_the_training() {
        #[derive(Deserialize)]
        struct Golden {
            words: Vec<String>,
            pauses: Vec<usize>,
            marks: Vec<[f32; 4]>,
            case: Vec<[f32; 3]>,
        }
        let golden = include_str!("../../tests/data/recogniser/readable-golden.json");
        let golden: Golden = serde_json::from_str(golden).unwrap();
        let words: Vec<HeardWord<'_>> = golden
            .words
            .iter()
            .zip(&golden.pauses)
            .map(|(text, pause)| HeardWord {
                text,
                pause_after_ms: pause
                    .checked_sub(1)
                    .and_then(|step| PAUSE_STEPS_MS.get(step).copied())
                    .unwrap_or(0),
            })
            .collect();
        let scores = model().0.scores(&words, true);
        for (i, (marks, cases)) in scores.iter().enumerate() {
            let got = marks.iter().chain(cases);
            let wanted = golden.marks[i].iter().chain(&golden.case[i]);
            for (got, wanted) in got.zip(wanted) {
                assert!(
                    (got - wanted).abs() < 0.05,
                    "{}: {got} is not {wanted}",
                    golden.words[i]
                );
            }
        }
    }

    proptest! {
        #[test]
        fn no_word_is_changed(
            words in prop::collection::vec("[a-z]{1,12}|ng'ombe|whatsapp|bwana|i'm|[0-9]{1,4}|ccm|\\PC{1,6}", 0..20),
            pauses in prop::collection::vec(0u32..1500, 20),
            before in 0usize..4,
            ends: bool,
        ) {
            static MODEL: std::sync::OnceLock<ReadableModel> = std::sync::OnceLock::new();
            let heard: Vec<HeardWord<'_>> = words
                .iter()
                .zip(pauses)
                .map(|(text, pause_after_ms)| HeardWord { text, pause_after_ms })
                .collect();
            let written = MODEL.get_or_init(model).written(&heard, TextPlace { before, ends });
            prop_assert_eq!(written.len(), words.len().saturating_sub(before));
            for (written, word) in written.iter().zip(&words[before.min(words.len())..]) {
                let rest = written.to_lowercase();
                let mark = rest.strip_prefix(&word.to_lowercase());
                prop_assert!(matches!(mark, Some("" | "," | "." | "?")), "{word} became {written}");
            }
        }
    }
}
