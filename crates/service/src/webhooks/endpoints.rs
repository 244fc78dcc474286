//! Where a workspace wants to be told of events.

use hyper::Uri;
use sauti_store::{AuditAction, WebhookEndpoint, WorkspaceId};

use crate::app::App;
use crate::{FieldError, Reason, ServiceError, audit, outbound};

/// Refuses at once an address that no delivery could ever go to, rather than let each of them fail.
pub async fn add(
    app: &App,
    workspace_id: &WorkspaceId,
    actor: &str,
    url: &str,
    events: &[String],
) -> Result<WebhookEndpoint, ServiceError> {
    if !can_be_called(url) {
        let expected = "an address such as https://example.com/sauti";
        return Err(ServiceError::Fields(vec![FieldError::new(
            "url",
            Reason::Malformed { expected },
        )]));
    }
    let may_be_inside = app.config.webhooks.allow_private_addresses;
    if !may_be_inside && outbound::leads_inside(url).await {
        return Err(ServiceError::PrivateAddress);
    }
    let made = app.store.add_webhook(workspace_id, url, events).await?;
    audit(&app.store, Some(workspace_id), actor)
        .did(AuditAction::WebhookCreated, &made.id)
        .await;
    Ok(made)
}

/// Whether it names a host, and a port that there is.
fn can_be_called(url: &str) -> bool {
    let Ok(uri) = url.trim().parse::<Uri>() else {
        return false;
    };
    uri.authority().is_some_and(|authority| {
        let address = authority.as_str().rsplit('@').next().unwrap_or_default();
        let host = authority.host();
        !host.is_empty() && (address == host || authority.port_u16().is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::can_be_called;

    #[test]
    fn an_address_that_nothing_can_be_sent_to_is_known() {
        for good in [
            "https://example.com",
            "http://example.com:8080/a?b=c#d",
            " https://[2a00:1450::1]:443/x ",
            "https://asha:siri@example.com/x",
        ] {
            assert!(can_be_called(good), "{good}");
        }
        for bad in [
            "https://",
            "https:///x",
            "https://example.com/x y",
            "https://example.com:99999/x",
            "https://exämple.com/x",
            "example.com/x",
        ] {
            assert!(!can_be_called(bad), "{bad}");
        }
    }
}
