//! Where recordings may be fetched from.

use axum::http::Uri;

/// Whether a URL lies at one of the origins that the operator allows. A star stands for one or more names before a host.
pub fn is_allowed(url: &str, origins: &[String]) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        return false;
    };
    // A name and a password before the host could make one host look like another.
    let plain = uri
        .authority()
        .is_some_and(|authority| !authority.as_str().contains('@'));
    plain && origins.iter().any(|origin| matches(&uri, origin))
}

fn matches(uri: &Uri, origin: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    // An address in brackets has colons of its own.
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (authority, None),
    };
    let default_port = if scheme == "https" { 443 } else { 80 };
    let same_port = uri.port_u16().unwrap_or(default_port) == port.unwrap_or(default_port);
    let asked = uri.host().unwrap_or_default().to_ascii_lowercase();
    let host = host.to_ascii_lowercase();
    let same_host = match host.strip_prefix("*.") {
        Some(parent) => asked
            .strip_suffix(parent)
            .is_some_and(|names| names.len() > 1 && names.ends_with('.')),
        None => asked == host,
    };
    uri.scheme_str() == Some(scheme) && same_port && same_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_origins_pass() {
        let origins = [
            "https://media.example.com",
            "https://*.cdn.example",
            "http://127.0.0.1:9000",
            "http://[::1]:80",
        ]
        .map(str::to_owned);
        for good in [
            "https://media.example.com/a.wav?x=1",
            "https://MEDIA.example.com:443/a",
            "https://eu.cdn.example/a",
            "https://a.b.cdn.example/a",
            "http://127.0.0.1:9000/a",
            "http://[::1]/a",
        ] {
            assert!(is_allowed(good, &origins), "{good}");
        }
        for bad in [
            "http://media.example.com/a",
            "https://media.example.com:8443/a",
            "https://media.example.com.evil.org/a",
            "https://media.example.com@evil.org/a",
            "https://evilcdn.example/a",
            "https://cdn.example/a",
            "http://127.0.0.1/a",
            "file:///etc/passwd",
            "/a.wav",
            "",
        ] {
            assert!(!is_allowed(bad, &origins), "{bad}");
        }
        assert!(!is_allowed("https://media.example.com/a", &[]));
    }
}
