//! Keys, members and webhooks: who and what may use a workspace.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use sauti_service::accounts;
use sauti_service::app::App;
use sauti_service::workspaces::{self, WorkspaceChange};
use sauti_store::ids::now_us;
use sauti_store::{
    Delivery, DeliveryState, Invite, KeyInfo, Member, Micro, Permission, Role, WebhookEndpoint,
};

use super::form::{MyForm, go_at};
use super::page::{self, Me, Page};
use super::shown;
use super::words::Words;
use sauti_web::language::Language;
use sauti_web::problem::Problem;

const KEYS_SHOWN_MAX: usize = 20;

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    page: Page,
    me: Me,
    /// Those that work first, the newest above.
    keys: Vec<KeyInfo>,
    folded_keys: Vec<KeyInfo>,
    permissions: Vec<(&'static str, &'static str)>,
}

impl KeysPage {
    fn shown(&self, micro: &i64) -> String {
        Micro(*micro).in_currency(&self.me.workspace.currency)
    }

    fn permissions_of(&self, key: &KeyInfo) -> String {
        let names: Vec<_> = key.permissions.iter().map(Permission::as_str).collect();
        names.join(", ")
    }

    fn is_active(&self, key: &KeyInfo) -> bool {
        is_active(key)
    }

    fn is_expired(&self, key: &KeyInfo) -> bool {
        is_expired(key)
    }
}

fn is_active(key: &KeyInfo) -> bool {
    key.revoked_us.is_none() && !is_expired(key)
}

fn is_expired(key: &KeyInfo) -> bool {
    key.expires_us
        .is_some_and(|expires_us| expires_us <= now_us())
}

pub async fn keys(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    let mut keys = match me.is_admin() {
        true => app.store.list_keys(&me.workspace.id).await?,
        false => Vec::new(),
    };
    keys.sort_by_key(|key| (!is_active(key), -key.created_us));
    let folded_keys = keys.split_off(keys.len().min(KEYS_SHOWN_MAX));
    let t = page.t;
    let permissions = vec![
        ("speech", t.perm_speech),
        ("transcription", t.perm_transcription),
        ("voices", t.perm_voices),
        ("usage", t.perm_usage),
        ("keys", t.perm_keys),
    ];
    page::render(&KeysPage {
        page,
        me,
        keys,
        folded_keys,
        permissions,
    })
}

pub fn role_name(t: &'static Words, role: Role) -> &'static str {
    match role {
        Role::Owner => t.role_owner,
        Role::Admin => t.role_admin,
        Role::Member => t.role_member,
    }
}

#[derive(Template)]
#[template(path = "members.html")]
struct MembersPage {
    page: Page,
    me: Me,
    members: Vec<Member>,
    /// Those that work: of who made them an admin wants to know before the member goes.
    keys: Vec<KeyInfo>,
    invites: Vec<Invite>,
}

impl MembersPage {
    fn role(&self, role: &Role) -> &'static str {
        role_name(self.page.t, *role)
    }

    /// The roles that may be given: none above one's own.
    fn roles(&self) -> Vec<Role> {
        let all = [Role::Member, Role::Admin, Role::Owner];
        all.into_iter()
            .filter(|role| *role <= self.me.role)
            .collect()
    }

    fn keys_of(&self, member: &Member) -> String {
        let made_by = |key: &&KeyInfo| key.created_by == member.account_id.as_str();
        let names = self
            .keys
            .iter()
            .filter(made_by)
            .map(|key| key.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }

    fn may_change(&self, member: &Member) -> bool {
        self.me.is_admin() && member.role <= self.me.role && member.account_id != self.me.account.id
    }
}

pub async fn members(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    let members = app.store.members(&me.workspace.id).await?;
    let invites = app.store.invites(&me.workspace.id).await?;
    let mut keys = match me.is_admin() {
        true => app.store.list_keys(&me.workspace.id).await?,
        false => Vec::new(),
    };
    keys.retain(is_active);
    page::render(&MembersPage {
        page,
        me,
        members,
        keys,
        invites,
    })
}

async fn require_admin(app: &App, me: &Me) -> Result<(), Problem> {
    accounts::require_role(app, &me.workspace.id, &me.account.id, Role::Admin).await?;
    Ok(())
}

pub async fn cancel_invite(State(app): State<App>, form: MyForm) -> Result<Response, Problem> {
    let (me, invite_id) = (&form.me, form.fields.text("invite").parse()?);
    accounts::cancel_invite(&app, &me.account, &me.workspace.id, &invite_id).await?;
    go_at(me, "/console/members", "saved")
}

pub async fn rename_workspace(State(app): State<App>, form: MyForm) -> Result<Response, Problem> {
    let me = &form.me;
    require_admin(&app, me).await?;
    let change = WorkspaceChange {
        name: Some(form.fields.text("name")),
        ..WorkspaceChange::default()
    };
    workspaces::change(&app.store, &me.account.id, &me.workspace.id, change).await?;
    go_at(me, "/console/members", "saved")
}

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage {
    page: Page,
    me: Me,
    webhooks: Vec<WebhookEndpoint>,
    deliveries: Vec<Delivery>,
    events: Vec<(&'static str, &'static str)>,
}

impl WebhooksPage {
    fn state(&self, delivery: &Delivery) -> &'static str {
        match delivery.state {
            DeliveryState::Pending => "…",
            DeliveryState::Delivered => "✓",
            DeliveryState::Failed => "✗",
        }
    }

    /// Why the last attempt failed, in the page's language.
    fn reason<'a>(&self, delivery: &'a Delivery) -> &'a str {
        match (self.page.language, delivery.last_error.as_str()) {
            (Language::Swahili, "took too long") => "ilichelewa mno",
            (Language::Swahili, "could not connect") => "haikuunganika",
            (Language::Swahili, "no answer") => "hakuna jibu",
            (Language::Swahili, "TLS failed") => "TLS imeshindwa",
            (Language::Swahili, "the host was not found" | "the host has no address") => {
                "anwani haikupatikana"
            }
            (Language::Swahili, error) if error.contains("may not go to") => {
                "anwani iko kwenye mtandao wa ndani"
            }
            (_, error) => error,
        }
    }
}

pub async fn webhooks(State(app): State<App>, page: Page, me: Me) -> Result<Response, Problem> {
    let (webhooks, deliveries) = match me.is_admin() {
        true => (
            app.store.webhooks(&me.workspace.id).await?,
            app.store.deliveries(&me.workspace.id, 20).await?,
        ),
        false => Default::default(),
    };
    let events = vec![
        ("balance.low", page.t.event_low),
        ("payment.received", page.t.event_payment),
        ("batch.finished", page.t.event_batch),
    ];
    page::render(&WebhooksPage {
        page,
        me,
        webhooks,
        deliveries,
        events,
    })
}
