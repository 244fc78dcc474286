//! What the scripts say: handed to them with the page, as data.

use serde_json::{Map, Value};

use sauti_web::language::Language;

/// As JSON that can stand in a page: no `<` in it can end the element around it.
pub fn json(language: Language) -> String {
    // Key, English, Swahili.
    let rows = include_str!("script_words.tsv").lines();
    let words = rows.filter_map(|row| {
        let (key, said) = row.split_once('\t')?;
        let (english, swahili) = said.split_once('\t')?;
        let word = match language {
            Language::English => english,
            Language::Swahili => swahili,
        };
        Some((key.to_owned(), word.into()))
    });
    let words: Map<String, Value> = words.collect();
    Value::Object(words).to_string().replace('<', "\\u003c")
}
