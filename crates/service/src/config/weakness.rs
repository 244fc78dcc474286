//! Settings that are allowed but take a protection away: `sauti doctor` warns of each.

use super::{BadSetting, Config, Network};

impl Config {
    pub fn weaknesses(&self) -> Vec<BadSetting> {
        let server = &self.server;
        let wide = |networks: &[Network]| networks.iter().any(Network::is_wide);
        let long = "callers who do nothing hold their connection for long";
        let private = "webhooks and batches can reach this machine and its network (SSRF)";
        let share = "one address can take every connection";
        let rules = [
            (
                server.header_timeout_s > 60,
                "server.header_timeout_s",
                long,
            ),
            (server.idle_timeout_s > 600, "server.idle_timeout_s", long),
            (server.body_timeout_s > 300, "server.body_timeout_s", long),
            (server.write_timeout_s > 300, "server.write_timeout_s", long),
            (
                server.connections_per_address_max >= server.connections_max,
                "server.connections_per_address_max",
                share,
            ),
            (
                server.connections_reserved == 0,
                "server.connections_reserved",
                "no room is kept for health checks",
            ),
            (
                wide(&server.reserved_networks),
                "server.reserved_networks",
                "the reserved connections are for everybody",
            ),
            (
                wide(&server.trusted_proxies),
                "server.trusted_proxies",
                "callers can write any address into X-Forwarded-For",
            ),
            (
                self.webhooks.allow_private_addresses,
                "webhooks.allow_private_addresses",
                private,
            ),
            (
                self.batches.allow_private_addresses,
                "batches.allow_private_addresses",
                private,
            ),
            (
                self.limits.sign_in_failures_max > 100,
                "limits.sign_in_failures_max",
                "passwords can be guessed",
            ),
        ];
        rules
            .into_iter()
            .filter(|(weak, ..)| *weak)
            .map(|(_, key, why)| BadSetting::new(key, why))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_not_weak_and_each_weakness_is_named() {
        assert_eq!(Config::with_overrides(&[]).unwrap().weaknesses(), []);
        let weak = Config::with_overrides(&[
            ("server.idle_timeout_s", "3600"),
            ("server.connections_reserved", "0"),
            ("server.trusted_proxies", "0.0.0.0/0"),
        ]);
        let weaknesses = weak.unwrap().weaknesses();
        let keys: Vec<_> = weaknesses.iter().map(|found| found.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "server.idle_timeout_s",
                "server.connections_reserved",
                "server.trusted_proxies"
            ]
        );
    }
}
