//! Pages that show each clip with what was said, what was heard, and the sound.

use std::fmt::Write;

use sauti_text::compare::{Step, word_alignment};

use super::score::Scored;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1c1c1c;background:#fff}\
table{border-collapse:collapse;width:100%;margin:1rem 0}td,th{padding:.35rem .6rem;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
del{background:#ffd9d9;text-decoration:line-through}ins{background:#d6f0d6;text-decoration:none}\
mark{background:#fff0b8}small{color:#666}audio{height:2rem;width:16rem}.wide{overflow-x:auto}\
section{border-top:1px solid #ddd;padding:1rem 0}section h3{margin:0 0 .6rem;font-size:1.05rem}\
.cards{display:grid;gap:.8rem;grid-template-columns:repeat(auto-fill,minmax(16rem,1fr))}\
.card{border:1px solid #ddd;border-radius:.6rem;padding:.7rem .8rem;background:#fafafa}.card p{margin:.4rem 0 0}.card audio{width:100%;margin:.3rem 0}\
@media(prefers-color-scheme:dark){body{background:#161616;color:#e8e8e8}td,th,section,.card{border-color:#333}.card{background:#1e1e1e}del{background:#5a2020}ins{background:#1f4a1f}mark{background:#5a4a10;color:inherit}small{color:#999}}";

pub(super) struct ReportPage {
    html: String,
    /// A table of clips is still open.
    in_table: bool,
}

/// One recording of a sentence.
pub(super) struct SpeechCard<'a> {
    pub clip: &'a Scored,
    /// The address of the recording.
    pub sound: String,
    pub notes: Vec<String>,
    /// What Whisper heard, where it was asked.
    pub whisper: Option<&'a str>,
}

impl ReportPage {
    pub(super) fn new(title: &str) -> Self {
        let title = escaped(title);
        let html = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style><h1>{title}</h1>\n"
        );
        Self {
            html,
            in_table: false,
        }
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.html, "<p>{}</p>", escaped(text));
    }

    pub(super) fn heading(&mut self, text: &str) {
        let _ = writeln!(self.html, "<h2>{}</h2>", escaped(text));
    }

    /// Cells are texts; the first column is the row's name, the others are figures.
    pub(super) fn figures(&mut self, header: &[impl AsRef<str>], rows: &[Vec<String>]) {
        fn cells(tag: &str, cells: &[impl AsRef<str>]) -> String {
            let cell = |(column, text): (usize, &_)| {
                let class = if column == 0 { "" } else { " class=\"n\"" };
                format!("<{tag}{class}>{}</{tag}>", escaped(AsRef::as_ref(text)))
            };
            cells.iter().enumerate().map(cell).collect()
        }
        let header = cells("th", header);
        let _ = writeln!(self.html, "<div class=\"wide\"><table><tr>{header}</tr>");
        for row in rows {
            let _ = writeln!(self.html, "<tr>{}</tr>", cells("td", row));
        }
        self.html.push_str("</table></div>\n");
    }

    pub(super) fn legend(&mut self) {
        self.html.push_str(
            "<p><small><del>said, not heard</del> <ins>heard, not said</ins> \
             <mark>heard otherwise</mark></small></p>\n",
        );
    }

    /// A sentence with a card for everyone who says it.
    pub(super) fn sentence(&mut self, name: &str, text: &str, cards: &[SpeechCard<'_>]) {
        let _ = writeln!(
            self.html,
            "<section><h3>{} <small>{}</small></h3><div class=\"cards\">",
            escaped(text),
            escaped(name)
        );
        for card in cards {
            let whisper = card.whisper.map_or_else(String::new, |heard| {
                format!("<p><small>Whisper: {}</small></p>", escaped(heard))
            });
            // A figure stays beside its name.
            let whole = |note: &String| escaped(note).replace(' ', "\u{a0}");
            let notes: Vec<String> = card.notes.iter().map(whole).collect();
            let _ = writeln!(
                self.html,
                "<div class=\"card\"><b>{}</b> <small>{}</small>\
                 <audio controls preload=\"none\" src=\"{}\"></audio><p>{}</p>{whisper}</div>",
                escaped(&card.clip.group),
                notes.join(" · "),
                escaped(&card.sound),
                aligned(card.clip),
            );
        }
        self.html.push_str("</div></section>\n");
    }

    pub(super) fn start_clips(&mut self) {
        self.legend();
        self.in_table = true;
        self.html.push_str(
            "<table><tr><th>clip<th class=\"n\">words wrong<th class=\"n\">CER<th>alignment</tr>\n",
        );
    }

    /// `sound` is the address of a recording: a file beside the page, or a data URL.
    pub(super) fn clip(&mut self, clip: &Scored, sound: Option<&str>) {
        let player = sound.map_or_else(String::new, |address| {
            format!(
                "<br><audio controls preload=\"none\" src=\"{}\"></audio>",
                escaped(address)
            )
        });
        let _ = writeln!(
            self.html,
            "<tr><td>{}<br><small>{} {:.1} s</small>{player}<td class=\"n\">{} of {}<td class=\"n\">{:.1} %<td>{}<br><small>{}</small></tr>",
            escaped(&clip.name),
            escaped(&clip.group),
            clip.seconds,
            clip.words.total(),
            clip.words.reference_len,
            clip.characters.rate() * 100.0,
            aligned(clip),
            escaped(&clip.readable),
        );
    }

    pub(super) fn finish(mut self) -> String {
        if self.in_table {
            self.html.push_str("</table>");
        }
        self.html.push_str("</html>\n");
        self.html
    }
}

fn aligned(clip: &Scored) -> String {
    let step = |step: Step<&str>| match step {
        Step::Same(word) => escaped(word),
        Step::Inserted(word) => format!("<ins>{}</ins>", escaped(word)),
        Step::Deleted(word) => format!("<del>{}</del>", escaped(word)),
        Step::Substituted {
            reference,
            hypothesis,
        } => {
            let (said, heard) = (escaped(reference), escaped(hypothesis));
            format!("<del>{said}</del> <mark>{heard}</mark>")
        }
    };
    let steps = word_alignment(&clip.reference, &clip.heard).into_iter();
    steps.map(step).collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_a_player_for_every_voice() {
        let clip = |voice: &str| {
            Scored::new(
                "0001 menu".into(),
                voice.into(),
                1.0,
                "karibu",
                "karibu".into(),
            )
        };
        let clips = [clip("asha"), clip("juma")];
        let card = |clip| SpeechCard {
            clip,
            sound: "page.audio/<x>.wav".into(),
            notes: vec!["CER 0 %".into()],
            whisper: Some("Karibu & co."),
        };
        let mut page = ReportPage::new("Voices");
        page.sentence(
            "0001 menu",
            "Karibu.",
            &clips.iter().map(card).collect::<Vec<_>>(),
        );
        let html = page.finish();
        assert_eq!(html.matches("<audio controls").count(), 2);
        assert!(html.contains("page.audio/&lt;x&gt;.wav") && html.contains("Karibu &amp; co."));
        assert!(!html.contains("</table>"));
    }

    #[test]
    fn a_clip_shows_what_was_lost_added_and_changed_and_nothing_breaks_out() {
        let mut page = ReportPage::new("a <b>");
        page.start_clips();
        let clip = Scored::new(
            "<script>".into(),
            String::new(),
            1.0,
            "moja mbili tatu",
            "moja tano tatu nne".into(),
        );
        page.clip(&clip, Some("\"x"));
        let html = page.finish();
        assert!(
            html.contains("moja <del>mbili</del> <mark>tano</mark> tatu <ins>nne</ins>"),
            "{html}"
        );
        assert!(
            html.contains("&lt;script&gt;") && html.contains("src=\"&quot;x\""),
            "{html}"
        );
    }
}
