//! The audit trail: written by each deed, and as a file: one JSON object or one CSV row an entry, newest first. The API and the command line write
//! the same.

use futures_util::Stream;
use futures_util::stream::try_unfold;
use sauti_store::{AuditAction, AuditEntry, AuditQuery, Store, StoreError, WorkspaceId};

const PAGE: i64 = 1_000;
const COLUMNS: [&str; 7] = [
    "id",
    "created_us",
    "workspace_id",
    "actor",
    "action",
    "target",
    "detail",
];

/// Who did something, and in which workspace; what it was is said next.
#[must_use]
pub fn audit<'a>(
    store: &'a Store,
    workspace_id: Option<&'a WorkspaceId>,
    actor: &'a str,
) -> Audited<'a> {
    Audited {
        store,
        workspace_id,
        actor,
    }
}

pub struct Audited<'a> {
    store: &'a Store,
    workspace_id: Option<&'a WorkspaceId>,
    actor: &'a str,
}

impl Audited<'_> {
    /// Writes it down. The deed is done already: a failure here is logged, not returned.
    pub async fn did(self, action: AuditAction, target: &str) {
        self.did_so(action, target, "").await;
    }

    /// With a word on how.
    pub(crate) async fn did_so(self, action: AuditAction, target: &str, detail: &str) {
        let (workspace_id, actor) = (self.workspace_id, self.actor);
        let written = self
            .store
            .audit(workspace_id, actor, action, target, detail);
        if let Err(error) = written.await {
            tracing::error!(%error, action = action.as_str(), "the audit trail has a gap");
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditFormat {
    /// One JSON object a line
    Jsonl,
    Csv,
}

impl AuditFormat {
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Jsonl => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    fn begin(self) -> String {
        match self {
            Self::Jsonl => String::new(),
            Self::Csv => COLUMNS.join(",") + "\n",
        }
    }

    fn write(self, entry: &AuditEntry, out: &mut String) {
        match self {
            Self::Jsonl => out.push_str(&serde_json::to_string(entry).unwrap_or_default()),
            Self::Csv => {
                let created = entry.created_us.to_string();
                let workspace = entry.workspace_id.as_deref().unwrap_or("");
                let cells = [
                    &entry.id,
                    created.as_str(),
                    workspace,
                    &entry.actor,
                    &entry.action,
                    &entry.target,
                    &entry.detail,
                ];
                out.push_str(&cells.map(quoted).join(","));
            }
        }
        out.push('\n');
    }
}

/// A cell that a spreadsheet takes as text: quoted, and never the start of a formula.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@']);
    format!(
        "\"{}{}\"",
        if formula { "'" } else { "" },
        cell.replace('"', "\"\"")
    )
}

/// Page by page, so that a trail of any length takes little memory.
pub fn export(
    store: Store,
    query: AuditQuery,
    format: AuditFormat,
) -> impl Stream<Item = Result<String, StoreError>> {
    let first = Some((query, format.begin()));
    try_unfold(first, move |next| {
        let store = store.clone();
        async move {
            let Some((mut query, mut text)) = next else {
                return Ok(None);
            };
            query.limit = PAGE;
            let entries = store.audit_list(&query).await?;
            for entry in &entries {
                format.write(entry, &mut text);
            }
            let full = entries.len() as i64 == PAGE;
            let last = entries.into_iter().next_back().filter(|_| full);
            let next = last.map(|last| {
                query.before = Some(last.id);
                (query, String::new())
            });
            Ok(Some((text, next)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_cannot_leave_its_quotes_or_become_a_formula() {
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
    }
}
