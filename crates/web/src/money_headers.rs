//! The headers that tell what an answer cost.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use sauti_service::money::Bill;

const UNITS: HeaderName = HeaderName::from_static("sauti-units");
const COST: HeaderName = HeaderName::from_static("sauti-cost");
const BALANCE: HeaderName = HeaderName::from_static("sauti-balance");
const CACHE: HeaderName = HeaderName::from_static("sauti-cache");
const CURRENCY: HeaderName = HeaderName::from_static("sauti-currency");

/// Everything but the balance, which is known only once the charge is booked.
pub fn add_bill(headers: &mut HeaderMap, bill: &Bill, currency: &str) {
    headers.insert(UNITS, HeaderValue::from(bill.units));
    headers.insert(COST, HeaderValue::from(bill.amount_micro));
    let cache = if bill.cached { "hit" } else { "miss" };
    headers.insert(CACHE, HeaderValue::from_static(cache));
    if let Ok(currency) = HeaderValue::from_str(currency) {
        headers.insert(CURRENCY, currency);
    }
}

pub fn add_balance(headers: &mut HeaderMap, available_micro: i64) {
    headers.insert(BALANCE, HeaderValue::from(available_micro));
}
