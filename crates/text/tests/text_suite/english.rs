//! English in Swahili and English by itself: which words are found, and how numbers are read.

use sauti_text::{Lexicon, Script, SpeechLanguage, normalise_in};

fn english(text: &str) -> String {
    let script = Script::from_text(text, &Lexicon::builtin()).unwrap();
    let words: Vec<&str> = script.english_words().map(|w| w.text.as_str()).collect();
    words.join(" ")
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace)
}

/// The frequent words; each tells how many letters it shares with the one before.
fn frequent_words() -> Vec<String> {
    let mut before = String::new();
    words_of(include_str!("../data/frequent-words.txt"))
        .map(|word| {
            let shared = word[..1].chars().next().unwrap().to_digit(36).unwrap() as usize;
            let shared: String = before.chars().take(shared).collect();
            before = shared + &word[1..];
            before.clone()
        })
        .collect()
}

#[test]
fn no_frequent_word_of_swahili_is_taken_for_english_unless_it_was_reviewed() {
    let reviewed: Vec<&str> = words_of(include_str!("../data/english-in-swahili.txt")).collect();
    let frequent = frequent_words();
    assert_eq!(frequent.len(), 20_000);
    let lexicon = Lexicon::builtin();
    let taken: Vec<String> = frequent
        .iter()
        .filter_map(|word| Script::from_text(word, &lexicon).ok())
        .flat_map(|script| {
            let words = script.english_words().map(|word| word.text.clone());
            words.collect::<Vec<_>>()
        })
        .filter(|word| !reviewed.contains(&word.as_str()))
        .collect();
    assert!(taken.is_empty(), "{taken:?}");
}

#[test]
fn english_words_are_found_in_swahili_sentences() {
    for (text, found) in [
        (
            "Nimetumia laptop yangu ku-download assignment ya leo.",
            "laptop download assignment",
        ),
        (
            "Tuma screenshot kwenye WhatsApp group ya class.",
            "screenshot WhatsApp group class",
        ),
        ("Nime-save number yako.", "save number"),
        ("Nataka kudownload app.", "kudownload app"),
        ("Usiforget kuedit.", "Usiforget kuedit"),
        (
            "Nimeshare link, anadownload file.",
            "Nimeshare link anadownload file",
        ),
        ("Wamecancel, tutaupdate.", "Wamecancel tutaupdate"),
        ("Haijasave, inaload tu.", "Haijasave inaload"),
        ("Nakumiss, nitakucall kesho.", "Nakumiss nitakucall"),
        ("Aliyepost picha, ninapoclick.", "Aliyepost ninapoclick"),
        ("Sijapay, hatukufix, kulike.", "Sijapay hatukufix kulike"),
        ("Anasamehe wa Kamerun na wa Kuwait.", ""),
        (
            "Nitaku-call back baada ya five minutes.",
            "call back five minutes",
        ),
        ("Mimi niko kwa stage, matatu imejaa.", "stage"),
        ("Tuma file ya project.", "file project"),
        (
            "Boss amesema salary itachelewa this month.",
            "Boss salary this month",
        ),
        (
            "Lipa kwa Paybill, nunua airtime ya Airtel.",
            "Paybill airtime Airtel",
        ),
        ("Sehemu ya pili ya mama wa wake zake.", ""),
        ("Amina Hassan na Yusuf walikwenda Dar es Salaam.", ""),
        ("UN na BBC, PIN 4729 na SMS.", ""),
    ] {
        assert_eq!(english(text), found, "{text}");
    }
}

#[test]
fn an_english_row_of_words_takes_its_small_words_along() {
    assert_eq!(
        english("You have received five hundred shillings."),
        "You have received five hundred shillings"
    );
}

#[test]
fn a_workspaces_own_word_is_said_as_it_wants() {
    let lexicon = Lexicon::parse("laptop\ttarakilishi\n").unwrap();
    let script = Script::from_text("Laptop yangu.", &lexicon).unwrap();
    assert_eq!(script.english_words().count(), 0);
    assert_eq!(script.clauses[0].words[0].phonemes, "taɾakilˈiʃi");
}

#[test]
fn numbers_dates_money_and_the_clock_are_read_in_english() {
    for (written, said) in [
        (
            "Your balance is KSh 1,250.",
            "Your balance is one thousand two hundred and fifty shillings.",
        ),
        (
            "It costs $5.50 or 500/=.",
            "It costs five dollars and fifty cents or five hundred shillings.",
        ),
        (
            "We raised USD 2.5 million.",
            "We raised two point five million dollars.",
        ),
        ("You owe 1 KES.", "You owe one shilling."),
        (
            "Come on 3/3/2026 at 9:30 am.",
            "Come on the third of March twenty twenty-six at nine thirty A M.",
        ),
        (
            "Born on the 9th of May 1988.",
            "Born on the ninth of May nineteen eighty-eight.",
        ),
        (
            "On March 3, 2026 we open.",
            "On March the third, twenty twenty-six we open.",
        ),
        (
            "The bus leaves at 10:15 from platform 3.",
            "The bus leaves at ten fifteen from platform three.",
        ),
        (
            "Open from 8:00 to 17:00.",
            "Open from eight o'clock to seventeen hundred hours.",
        ),
        (
            "It rose by 12% in 2024.",
            "It rose by twelve per cent in twenty twenty-four.",
        ),
        (
            "Call 0712345678 now.",
            "Call zero seven one two, three four five, six seven eight now.",
        ),
        ("Your PIN is 4729.", "Your PIN is four seven two nine."),
        (
            "She came 2nd after 5-10 minutes.",
            "She came second after five to ten minutes.",
        ),
        (
            "Drink 2 l of water, 1/2 a cup of milk.",
            "Drink two litres of water, a half a cup of milk.",
        ),
        (
            "Dr. Otieno and Mrs Wanjiku met the UN.",
            "doctor Otieno and missis Wanjiku met the U N.",
        ),
        ("Tom & Jerry", "Tom and Jerry"),
        ("Dial *334#.", "Dial star three three four hash."),
        (
            "Car KDA 123B, code QX7T9.",
            "Car K D A one two three B, code Q X seven T nine.",
        ),
        (
            "483920 is your code, card ****4242.",
            "four eight three nine two zero is your code, card star, four two four two.",
        ),
        (
            "Token 1234 5678 9012, Till 832145.",
            "Token one two three four, five six seven eight, nine zero one two, Till eight three two one four five.",
        ),
        (
            "Two ATMs, the CEO's PIN, NASA and M-PESA.",
            "Two A T M's, the C E O's PIN, NASA and M-PESA.",
        ),
        ("Sent to JANE DOE.", "Sent to JANE DOE."),
        (
            "Open 24/7, Mon-Fri 8am-5pm, at -5°C.",
            "Open twenty-four seven, Monday to Friday eight A M to five P M, at minus five degrees Celsius.",
        ),
        (
            "A 20% share, room 12B.",
            "a twenty per cent share, room twelve B.",
        ),
    ] {
        assert_eq!(
            normalise_in(written, SpeechLanguage::English),
            said,
            "{written}"
        );
    }
}

#[test]
fn amounts_with_letters_cents_and_divisors_are_read_in_english() {
    for (written, said) in [
        ("KSh 2.5M", "two point five million shillings"),
        ("$5m", "five million dollars"),
        (
            "KES 10k, £3bn",
            "ten thousand shillings, three billion pounds",
        ),
        (
            "5m USD, 2 million KES",
            "five million dollars, two million shillings",
        ),
        ("KSh 50/kg", "fifty shillings per kilogram"),
        (
            "Sh. 500/= or 500/=",
            "five hundred shillings or five hundred shillings",
        ),
        ("KSh 500/month", "five hundred shillings per month"),
        ("20 KES/L", "twenty shillings per litre"),
        (
            "60 km/h, 5 m/s",
            "sixty kilometres per hour, five metres per second",
        ),
        ("1 km/h", "one kilometre per hour"),
        (
            "60 mph, 10Mbps",
            "sixty miles per hour, ten megabits per second",
        ),
        ("5 m, $5", "five metres, five dollars"),
        ("KSh 1.01", "one shilling and one cent"),
        ("KSh 0.50", "fifty cents"),
        ("£0.01, KSh 0.00", "one penny, zero shillings"),
        (
            "10k people, 5M users, a 4K TV.",
            "ten thousand people, five million users, a four K T V.",
        ),
        (
            "KSh 50-100/kg",
            "fifty to one hundred shillings per kilogram",
        ),
        (
            "$5-10m, 50-100 KES",
            "five to ten million dollars, fifty to one hundred shillings",
        ),
        (
            "10-20 km, 50%-60%",
            "ten to twenty kilometres, fifty to sixty per cent",
        ),
        (
            "60 KM/H, 5 KG, 4 mb/s",
            "sixty kilometres per hour, five kilograms, four megabits per second",
        ),
        (
            "P.O. Box 123-00100, P.O. Box 45",
            "P O Box one two three, zero zero one zero zero, P O Box forty-five",
        ),
        ("tea and/or coffee, yes/no", "tea and or coffee, yes or no"),
        (
            "1-800-FLOWERS, +254 (0) 712 345678",
            "one, eight zero zero, FLOWERS, plus two five four, seven one two, three four five six seven eight",
        ),
        (
            "03.04.26, 31/02/2026",
            "the third of April twenty twenty-six, three one, zero two, two zero two six",
        ),
        ("In the 1990s.", "In the nineteen nineties."),
        (
            "The early 90s, the 1900's.",
            "The early nineties, the nineteen hundreds.",
        ),
        ("The 2000s and 2010s.", "The two thousands and twenty tens."),
    ] {
        assert_eq!(
            normalise_in(written, SpeechLanguage::English),
            said,
            "{written}"
        );
    }
}

#[test]
fn a_dot_behind_a_letter_ends_no_sentence() {
    for (text, said) in [
        (
            "Closed on Sunday from 9.00 A.M. – 5.00 P.M. Karibu sana.",
            "Closed on Sunday from nine A M to five P M. Karibu sana.",
        ),
        (
            "Write to us at P. O. Box 123 please. Nina 5.",
            "Write to us at P O Box one two three please. Nina tano.",
        ),
        ("This is Peter's. Nina 5.", "This is Peter's. Nina tano."),
    ] {
        assert_eq!(normalise_in(text, SpeechLanguage::Auto), said);
    }
}

#[test]
fn each_sentence_is_read_in_its_own_language() {
    let text = "Karibu sana, una ujumbe 2. You have 2 messages. Bonyeza 1.";
    assert_eq!(
        normalise_in(text, SpeechLanguage::Auto),
        "Karibu sana, una ujumbe wa pili. You have two messages. Bonyeza moja.".replace(
            "ujumbe wa pili",
            &normalise_in("ujumbe 2", SpeechLanguage::Swahili)
        )
    );
    let script = Script::from_text_in(text, &Lexicon::builtin(), SpeechLanguage::Auto).unwrap();
    let words: Vec<&str> = script.english_words().map(|w| w.text.as_str()).collect();
    assert_eq!(words, ["You", "have", "two", "messages"]);
    let said = script.english_words().nth(2).unwrap();
    assert_eq!(&text[said.source.clone()], "2");
}

#[test]
fn names_in_an_english_sentence_keep_their_swahili_sounds() {
    let text = "Welcome to Mombasa, Wanjiku.";
    let script = Script::from_text_in(text, &Lexicon::builtin(), SpeechLanguage::English).unwrap();
    let word = |name: &str| {
        let mut words = script.clauses.iter().flat_map(|clause| &clause.words);
        words.find(|word| word.text == name).unwrap()
    };
    assert_eq!(word("Mombasa").phonemes, "moᵐbˈasa");
    assert_eq!(word("Wanjiku").english, None);
    assert_eq!(word("Welcome").english.as_deref(), Some("wˈɛlkəm"));
}

#[test]
fn ssml_names_the_language_of_its_parts() {
    let read = |ssml: &str| Script::from_ssml(ssml, &Lexicon::builtin());
    let script = read("<speak>Una 2. <lang xml:lang=\"en-GB\">You have 2.</lang> Una 2.</speak>");
    assert_eq!(
        script.unwrap().spoken(),
        "Una mbili. You have two. Una mbili."
    );
    let script = read("<speak xml:lang=\"en\"><p>Page 3</p><p xml:lang=\"sw\">Namba 3</p></speak>");
    assert_eq!(script.unwrap().spoken(), "Page three. Namba tatu.");
    let said = "<speak xml:lang=\"en\"><say-as interpret-as=\"characters\">AB1</say-as>, \
        <say-as interpret-as=\"date\">3/4/2026</say-as>, <say-as interpret-as=\"currency\">20</say-as>, \
        <say-as interpret-as=\"currency\">-5</say-as>, <say-as interpret-as=\"time\">9:05</say-as></speak>";
    assert_eq!(
        read(said).unwrap().spoken(),
        "A B one, the third of April twenty twenty six, twenty shillings, minus five shillings, nine oh five."
    );
    assert!(read("<speak><lang>Oui</lang></speak>").is_err());
    for wrong in [
        "<speak><lang xml:lang=\"fr\">Oui</lang></speak>",
        "<speak xml:lang=\"fr-FR\">Oui</speak>",
        "<speak><p xml:lang=\"de\">Ja</p></speak>",
        "<speak><s xml:lang=\"\">Si</s></speak>",
    ] {
        let error = read(wrong).unwrap_err().to_string();
        let named = "there are sw and en, also as sw-KE, en-US";
        assert!(error.ends_with(named), "{wrong}: {error}");
    }
}

#[test]
fn nothing_that_can_be_written_breaks_the_english_reading() {
    use proptest::prelude::*;
    proptest!(|(text in ".{0,80}", numbers in "[0-9:/.,$% -]{0,20}[a-z]{0,3}")| {
        for text in [text, numbers] {
            for language in SpeechLanguage::ALL {
                let spoken = normalise_in(&text, language);
                prop_assert!(!spoken.contains(|c: char| c.is_ascii_digit()), "{text:?}: {spoken:?}");
                if let Ok(script) = Script::from_text_in(&text, &Lexicon::builtin(), language) {
                    for word in script.clauses.iter().flat_map(|clause| &clause.words) {
                        prop_assert!(text.get(word.source.clone()).is_some());
                    }
                }
            }
        }
    });
}

#[test]
fn signs_numerals_and_short_forms_are_read_in_english() {
    for (written, said) in [
        (
            "12 - 5 = 7; 6 × 7 = 42; 10 ÷ 2 = 5; 3+4=7.",
            "twelve minus five equals seven; six times seven equals forty-two; ten divided by two equals five; three plus four equals seven.",
        ),
        ("Pages 8 - 10.", "Pages eight - ten."),
        (
            "Use fruit, e.g. mangoes, i.e. 10% p.a. at most.",
            "Use fruit, for example mangoes, that is ten per cent per annum at most.",
        ),
        (
            "It pays 12.5% p.a. The fee is 5.",
            "It pays twelve point five per cent per annum. The fee is five.",
        ),
        (
            "Add 2 1/2 cups and 3 3/4 spoons on 5 1/2/2026.",
            "Add two and a half cups and three and three quarters spoons on five the first of February twenty twenty-six.",
        ),
        (
            "A plot of 100 m², 5 km2, 3 m³.",
            "a plot of one hundred square metres, five square kilometres, three cubic metres.",
        ),
        (
            "Visit www.sauti.co.ke/help or call, yes/no.",
            "Visit www dot sauti dot co dot ke slash help or call, yes or no.",
        ),
        (
            "Open 8:00-17:00, Sat 9am-1pm.",
            "Open eight o'clock to seventeen hundred hours, Saturday nine A M to one P M.",
        ),
        (
            "Chapter IV, World War II, Henry VIII, Form I.",
            "Chapter four, World War two, Henry the eighth, Form one.",
        ),
        (
            "The part I like, an IV drip.",
            "The part I like, an I V drip.",
        ),
        ("The First XI won.", "The First eleven won."),
        (
            "KSh 50 per kg, per m2.",
            "fifty shillings per kilogram, per square metre.",
        ),
        (
            "On Jan. 5th, 2026 and Sept. 2025.",
            "On January the fifth, twenty twenty-six and September twenty twenty-five.",
        ),
        (
            "Version 3.5.2 at 192.168.1.1, .5 of 1.000.000.",
            "Version three point five point two at one hundred and ninety-two point one hundred and sixty-eight point one point one, point five of one million.",
        ),
        ("A ratio of 3:1.", "a ratio of three to one."),
    ] {
        assert_eq!(
            normalise_in(written, SpeechLanguage::English),
            said,
            "{written}"
        );
    }
}

#[test]
fn keys_fractions_powers_and_hours_are_read_in_english() {
    for (written, said) in [
        (
            "Press * to return, 2 or #.",
            "Press star to return, two or hash.",
        ),
        (
            "Add ½ cup, 2½ cups.",
            "Add a half cup, two and a half cups.",
        ),
        (
            "x² + 1, √16 = 4, 12/4 = 3.",
            "x squared plus one, the square root of sixteen equals four, twelve over four equals three.",
        ),
        (
            "She scored 4/5; it is 4/5 full in FY 2025/26.",
            "She scored four out of five; it is four fifths full in F Y twenty twenty-five to twenty twenty-six.",
        ),
        (
            "At 0800 hrs, 1730hrs, 14:05 hrs.",
            "At zero eight hundred hours, seventeen thirty hours, fourteen oh five hours.",
        ),
        (
            "It took 2000 hours; I got 1/2 of it; they may march; set 12 - 34 - 56.",
            "It took two thousand hours; I got a half of it; they may march; set twelve - thirty-four - fifty-six.",
        ),
        (
            "Tue 5 Jan. 2026, Jan-Mar, 7 days/week, day/night.",
            "Tuesday the fifth of January twenty twenty-six, January to March, seven days per week, day or night.",
        ),
        (
            "98.6°F, <5 mins, >10, ~3 km, 1.5 L, 500 mL, 2Gb.",
            "ninety-eight point six degrees Fahrenheit, less than five minutes, more than ten, about three kilometres, one point five litres, five hundred millilitres, two gigabytes.",
        ),
        (
            "St. Mary's is on Ngong Rd. The bus of Acme Ltd. is late.",
            "Saint Mary's is on Ngong road. The bus of Acme limited is late.",
        ),
    ] {
        assert_eq!(
            normalise_in(written, SpeechLanguage::English),
            said,
            "{written}"
        );
    }
}

#[test]
fn money_below_zero_is_read_with_its_minus_and_a_dash_without_one() {
    let debt = "minus two hundred and fifty shillings";
    let cents = "minus two hundred and fifty shillings and fifty cents";
    for (written, said) in [
        ("-KES 250.00", debt),
        ("-Ksh250", debt),
        ("−KES 250", debt),
        ("–KES 250", debt),
        ("KES -250", debt),
        ("KES −250", debt),
        ("KES –250", debt),
        ("Ksh-250", debt),
        ("−250 KES", debt),
        ("–250/=", debt),
        ("-KES 250.50", cents),
        ("KES -250.50", cents),
        (
            "-KES 1,250.00",
            "minus one thousand two hundred and fifty shillings",
        ),
        ("-$5", "minus five dollars"),
        ("$-5", "minus five dollars"),
        ("-US$5m", "minus five million U S dollars"),
        ("(KES 250.00)", "(two hundred and fifty shillings)"),
        ("KES 200-300", "two hundred to three hundred shillings"),
        (
            "from KES 200 – KES 300",
            "from two hundred shillings to three hundred shillings",
        ),
        (
            "KES 200 -KES 300",
            "two hundred shillings to three hundred shillings",
        ),
        (
            "500/=-600/=",
            "five hundred shillings to six hundred shillings",
        ),
        (
            "by M-Pesa - KES 250",
            "by M-Pesa - two hundred and fifty shillings",
        ),
        (
            "the total - KES 250",
            "the total - two hundred and fifty shillings",
        ),
        (
            "what you pay-KES 250",
            "what you pay-two hundred and fifty shillings",
        ),
    ] {
        for language in [SpeechLanguage::English, SpeechLanguage::Auto] {
            let spoken = normalise_in(&format!("Your balance is {written}."), language);
            assert_eq!(spoken, format!("Your balance is {said}."), "{language}");
        }
    }
}

#[test]
fn everyday_texts_are_read_in_english() {
    let rows = include_str!("../data/english-cases.tsv").lines();
    for row in rows.filter(|row| !row.starts_with('#')) {
        let (written, said) = row.split_once('\t').unwrap();
        assert_eq!(
            normalise_in(written, SpeechLanguage::English),
            said,
            "{written}"
        );
    }
}
