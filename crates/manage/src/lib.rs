//! The routes by which workspaces and the people in them are managed: accounts, keys, money, words, webhooks. One file per
//! resource, as in `sauti-server`, which puts these routes beside its own. They are called rarely, so nothing here is optimised.

pub mod account;
pub mod audit;
pub mod keys;
pub mod lexicon;
pub mod members;
pub mod payments;
pub mod usage;
pub mod vocabularies;
pub mod webhooks;
pub mod workspaces;

use sauti_service::app::App;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn routes() -> OpenApiRouter<App> {
    workspace().merge(people())
}

fn workspace() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(usage::get_balance))
        .routes(routes!(usage::get_usage))
        .routes(routes!(usage::get_statement))
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::revoke_key))
        .routes(routes!(keys::rotate_key))
        .routes(routes!(audit::list))
        .routes(routes!(audit::export))
        .routes(routes!(lexicon::list_words))
        .routes(routes!(lexicon::set_word, lexicon::remove_word))
        .routes(routes!(vocabularies::list))
        .routes(routes!(
            vocabularies::show,
            vocabularies::set,
            vocabularies::remove
        ))
        .routes(routes!(webhooks::list, webhooks::create))
        .routes(routes!(webhooks::remove))
}

fn people() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(account::get_account, account::sign_up))
        .routes(routes!(account::confirm))
        .routes(routes!(account::delete))
        .routes(routes!(account::sign_in, account::sign_out))
        .routes(routes!(account::request_reset, account::reset))
        .routes(routes!(members::list_members, members::invite))
        .routes(routes!(members::set_role, members::remove))
        .routes(routes!(members::accept))
        .routes(routes!(workspaces::change))
        .routes(routes!(workspaces::credit))
        .routes(routes!(workspaces::correct))
        .routes(routes!(payments::report_payment))
}
