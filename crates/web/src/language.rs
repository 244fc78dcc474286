//! English or Swahili, by what the caller says it reads.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    Swahili,
}

impl Language {
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Swahili => "sw",
        }
    }

    pub fn of(headers: &HeaderMap) -> Language {
        let value = headers
            .get(ACCEPT_LANGUAGE)
            .and_then(|value| value.to_str().ok());
        value.map(Language::preferred).unwrap_or_default()
    }

    /// Swahili only when it is wanted at least as much as everything named before it.
    fn preferred(accept: &str) -> Language {
        let mut best = (0.0, Language::English);
        for part in accept.split(',').take(32) {
            let mut pieces = part.split(';');
            let tag = pieces.next().unwrap_or_default().trim();
            let quality = pieces
                .find_map(|piece| piece.trim().strip_prefix("q=")?.trim().parse::<f32>().ok())
                .unwrap_or(1.0);
            let primary = tag.split('-').next().unwrap_or_default();
            let language = match primary.eq_ignore_ascii_case("sw") {
                true => Language::Swahili,
                false => Language::English,
            };
            if quality > best.0 {
                best = (quality, language);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swahili_is_spoken_only_to_those_who_prefer_it() {
        assert_eq!(Language::preferred("sw"), Language::Swahili);
        assert_eq!(Language::preferred("sw-KE,en;q=0.8"), Language::Swahili);
        assert_eq!(Language::preferred("en;q=0.3, sw;q=0.9"), Language::Swahili);
        assert_eq!(Language::preferred("en,sw;q=0.9"), Language::English);
        assert_eq!(Language::preferred("fr"), Language::English);
        assert_eq!(Language::preferred("swx;q=nonsense,,;;"), Language::English);
    }
}
