//! Amounts of money as people write them.

use std::fmt;
use std::str::FromStr;

/// Millionths of a currency's unit: 1,500,000 is 1.50.
///
/// Printed exactly, with two decimals at least, so that units and prices multiply out wherever they
/// stand; `{:#}` sets commas between thousands, `{:.4}` keeps as many decimals, rounded, for columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Micro(pub i64);

const UNIT: u64 = 1_000_000;

impl Micro {
    /// As people read it: commas between thousands, and a real minus sign before the currency.
    pub fn in_currency(self, currency: &str) -> String {
        signed(self, currency, format!("{self:#}"))
    }

    /// Always four decimals, for columns whose amounts people add up or multiply out.
    pub fn in_column(self, currency: &str) -> String {
        signed(self, currency, format!("{self:#.4}"))
    }
}

fn signed(micro: Micro, currency: &str, amount: String) -> String {
    let sign = if micro.0 < 0 { "−" } else { "" };
    format!("{sign}{currency} {}", amount.trim_start_matches('-'))
}

impl fmt::Display for Micro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut micro = self.0.unsigned_abs();
        if let Some(decimals) = f.precision() {
            let step = 10_u64.pow(6_u32.saturating_sub(decimals as u32));
            micro = micro.saturating_add(step / 2) / step * step;
        }
        let (mut whole, part) = ((micro / UNIT).to_string(), format!("{:06}", micro % UNIT));
        if f.alternate() {
            let digits = whole.len();
            for left in (1..digits).filter(|left| left % 3 == 0) {
                whole.insert(digits - left, ',');
            }
        }
        let exact = part.trim_end_matches('0').len().max(2);
        let kept = f.precision().unwrap_or(exact).min(part.len());
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{whole}.{}", &part[..kept])
    }
}

impl FromStr for Micro {
    type Err = String;

    /// "250", "12.50", "1,500"; nothing below zero and nothing finer than a millionth.
    fn from_str(text: &str) -> Result<Micro, String> {
        let refuse = || format!("{text:?} is not an amount such as 250 or 12.50");
        let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        // A comma that parts anything but thousands may have been meant as the point.
        let mut groups = whole.split([',', ' ']);
        let first = groups.next().unwrap_or_default();
        let mut is_whole = !first.is_empty();
        for group in groups {
            is_whole &= first.len() <= 3 && group.len() == 3;
        }
        let whole = whole.replace([',', ' '], "");
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_whole || !digits(&whole) || !digits(part) || part.len() > 6 {
            return Err(refuse());
        }
        format!("{whole}{part:0<6}")
            .parse()
            .map(Micro)
            .map_err(|_| refuse())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_keeps_every_millionth() {
        assert_eq!(Micro(1_500_000).to_string(), "1.50");
        assert_eq!(Micro(62_000).to_string(), "0.062");
        assert_eq!(Micro(0).to_string(), "0.00");
        assert_eq!(Micro(-10).to_string(), "-0.00001");
        assert_eq!(Micro(i64::MIN).to_string(), "-9223372036854.775808");
        assert_eq!(format!("{:#}", Micro(999_999_999)), "999.999999");
        assert_eq!(format!("{:#}", Micro(1_000_000_000)), "1,000.00");
        assert_eq!(format!("{:.6}", Micro(-1_500_000)), "-1.500000");
        assert_eq!(format!("{:#.4}", Micro(1_234_999_950)), "1,235.0000");
        assert_eq!(format!("{:#}", Micro(1_234_567_890_000)), "1,234,567.89");
    }

    #[test]
    fn amounts_in_columns_have_one_number_of_decimals() {
        let amount = |micro| Micro(micro).in_column("KES");
        assert_eq!(amount(400_000), "KES 0.4000");
        assert_eq!(amount(-18_000), "−KES 0.0180");
        assert_eq!(amount(1_234_567_891_200), "KES 1,234,567.8912");
        assert_eq!(amount(i64::MIN), "−KES 9,223,372,036,854.7758");
    }

    #[test]
    fn money_reads_well_at_every_size() {
        let money = |micro| Micro(micro).in_currency("KES");
        assert_eq!(money(1_500_000), "KES 1.50");
        assert_eq!(money(1_234_567_890_000), "KES 1,234,567.89");
        assert_eq!(money(62_000), "KES 0.062");
        assert_eq!(money(0), "KES 0.00");
        assert_eq!(money(-2_000_000), "−KES 2.00");
        assert_eq!(money(i64::MIN), "−KES 9,223,372,036,854.775808");
    }

    #[test]
    fn amounts_are_read_exactly_or_not_at_all() {
        assert_eq!("1,500".parse(), Ok(Micro(1_500_000_000)));
        assert_eq!(" 12.5 ".parse(), Ok(Micro(12_500_000)));
        assert_eq!("0.000001".parse(), Ok(Micro(1)));
        assert_eq!("1 250,000.50".parse(), Ok(Micro(1_250_000_500_000)));
        for wrong in [
            "",
            ".",
            ".5",
            "-5",
            "1e9",
            "1.2.3",
            "5.0000001",
            "99999999999999999999",
            "KES 5",
            "12,50",
            ",500",
            "1,00,000",
            "1.000,50",
            "1500,000",
        ] {
            assert!(wrong.parse::<Micro>().is_err(), "{wrong}");
        }
    }
}
