//! Which addresses we talk to on a customer's word. A workspace chooses the URL, and must not be able to make
//! this server talk to its own neighbours.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the address belongs to the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let special = v4.is_unspecified()
        || v4.is_loopback()
        || v4.is_private()
        || v4.is_link_local()
        || v4.is_broadcast()
        || v4.is_multicast()
        || v4.is_documentation()
        || a == 0
        // Shared by carriers (100.64/10), benchmarks (198.18/15), protocol assignments, reserved.
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || a >= 240;
    !special
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    // An IPv4 address in disguise is judged as what it is.
    if let Some(v4) = v6.to_ipv4_mapped() {
        return is_public_v4(v4);
    }
    let segments = v6.segments();
    // NAT64 by its well-known prefix, 64:ff9b::/96. In its other networks (64:ff9b:1::/48) the IPv4 address may stand anywhere.
    if segments[..6] == [0x0064, 0xff9b, 0, 0, 0, 0] {
        let [.., high, low] = segments;
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    // Only 2000::/3 is handed out; of it, not 6to4, Teredo and the documentation's range.
    let global = segments[0] & 0xe000 == 0x2000;
    let tunnelled = segments[0] == 0x2002 || (segments[0] == 0x2001 && segments[1] < 0x0200);
    let documentation = segments[0] == 0x2001 && segments[1] == 0x0db8;
    global && !tunnelled && !documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_are_not_public_in_any_disguise() {
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "::ffff:127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1:a9fe:a9:fe00:808:808",
            "2002:7f00:1::",
            "ff02::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "8.8.8.8",
            "41.90.64.1",
            "2a00:1450:4001:800::200e",
            "2606:4700::1111",
        ] {
            assert!(is_public(outside.parse().unwrap()), "{outside}");
        }
    }
}
