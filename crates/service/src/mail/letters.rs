//! What the letters say, in both languages at once: we do not know yet which one a stranger reads.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    pub subject: String,
    pub body: String,
    /// What the letter asks to open.
    pub link: String,
}

impl Letter {
    pub fn confirm(link: &str) -> Letter {
        Letter {
            subject: "Thibitisha akaunti yako ya Sauti / Confirm your Sauti account".to_owned(),
            body: format!(
                "Karibu Sauti!\n\nFungua kiungo hiki kuthibitisha akaunti yako:\n{link}\n\n\
                 Kama hukujiandikisha, puuza barua hii.\n\n--\n\n\
                 Welcome to Sauti!\n\nOpen this link to confirm your account:\n{link}\n\n\
                 If you did not sign up, ignore this mail.\n"
            ),
            link: link.to_owned(),
        }
    }

    /// To someone who signs up a second time; the page itself does not tell who has an account.
    pub(crate) fn already_known(sign_in_link: &str) -> Letter {
        Letter {
            subject: "Tayari una akaunti ya Sauti / You already have a Sauti account".to_owned(),
            body: format!(
                "Mtu (labda wewe) amejaribu kufungua akaunti ya Sauti kwa anwani hii, lakini tayari ipo.\n\
                 Ingia hapa: {sign_in_link}\n\n--\n\n\
                 Someone (perhaps you) tried to open a Sauti account with this address, but there is one.\n\
                 Sign in here: {sign_in_link}\n"
            ),
            link: sign_in_link.to_owned(),
        }
    }

    pub fn reset(link: &str) -> Letter {
        Letter {
            subject: "Weka nenosiri jipya la Sauti / Set a new Sauti password".to_owned(),
            body: format!(
                "Fungua kiungo hiki ndani ya saa moja kuweka nenosiri jipya:\n{link}\n\n\
                 Kama hukuomba, puuza barua hii: nenosiri lako halijabadilika.\n\n--\n\n\
                 Open this link within an hour to set a new password:\n{link}\n\n\
                 If you did not ask for it, ignore this mail: your password has not changed.\n"
            ),
            link: link.to_owned(),
        }
    }

    pub fn invite(workspace: &str, inviter: &str, link: &str) -> Letter {
        let workspace = plain_name(workspace);
        Letter {
            subject: "Mwaliko wa Sauti / An invitation to Sauti".to_owned(),
            body: format!(
                "{inviter} amekualika kwenye eneo la kazi \"{workspace}\" katika Sauti:\n{link}\n\n--\n\n\
                 {inviter} invites you to the workspace \"{workspace}\" on Sauti:\n{link}\n"
            ),
            link: link.to_owned(),
        }
    }

    pub(crate) fn balance_low(workspace: &str, balance: &str, link: &str) -> Letter {
        let workspace = plain_name(workspace);
        Letter {
            subject: "Salio la Sauti ni dogo / Your Sauti balance is low".to_owned(),
            body: format!(
                "Salio la \"{workspace}\" limeshuka hadi {balance}. Likiisha, maombi yatakataliwa.\n\
                 Ongeza fedha: {link}\n\n--\n\n\
                 The balance of \"{workspace}\" is down to {balance}. Once it is gone, requests are refused.\n\
                 Add money: {link}\n"
            ),
            link: link.to_owned(),
        }
    }
}

const NAME_CHARS_MAX: usize = 60;

/// A name that somebody chose, as words only: mail programs make a link of whatever looks like one, and our letters must not
/// carry other people's links or invisible characters.
fn plain_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " -'&,()".contains(c);
    let words: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { ' ' })
        .take(NAME_CHARS_MAX)
        .collect();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_letter_is_words_and_never_a_link() {
        assert_eq!(
            plain_name("Duka la Mama Njeri (Kisumu)"),
            "Duka la Mama Njeri (Kisumu)"
        );
        assert_eq!(
            plain_name("Umeshinda! https://evil.example/x\u{202e}\u{200b} www.evil.example"),
            "Umeshinda https evil example x www evil example"
        );
        let letter = Letter::invite(
            "http://evil.example",
            "a@example.com",
            "https://sauti/console",
        );
        assert!(!letter.body.contains("evil.example"), "{}", letter.body);
        assert_eq!(plain_name(&"a".repeat(200)).len(), NAME_CHARS_MAX);
    }
}
