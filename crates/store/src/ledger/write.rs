//! Putting a group's changes down in few statements.

use sqlx::AnyConnection;

use super::commit_group::{Change, CommitGroup, KeptAnswer};
use super::items::write_items;
use crate::WorkspaceId;
use crate::rows::{Value, execute_rows};
use crate::webhooks::{event_payload, queue_event};

#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
    /// A row was not as it had been read. The lock should make that impossible; the group is rolled back and run again.
    #[error("{0} changed under the group")]
    Changed(&'static str),
}

impl CommitGroup {
    pub(super) async fn write(self, connection: &mut AnyConnection) -> Result<(), WriteError> {
        self.write_balances(connection).await?;
        self.write_keys(connection).await?;
        self.write_reservations(connection).await?;
        self.write_usage(connection).await?;
        let Self {
            transfers,
            entries,
            answers,
            finished_items,
            events,
            ..
        } = self;
        execute_rows(
            connection,
            "insert into transfers (id, workspace_id, kind, amount_micro, total_after_micro, operation, units, audio_ms,
                cached, key_id, request_id, reservation_id, refund_of, external_id, memo, created_us) values ",
            transfers,
            "",
        )
        .await?;
        execute_rows(
            connection,
            "insert into entries (transfer_id, line, account, amount_micro) values ",
            entries,
            "",
        )
        .await?;
        write_items(connection, finished_items).await?;
        for event in events {
            let payload = event_payload(event.event_type, &event.workspace_id, &event.data);
            queue_event(connection, &event.workspace_id, event.event_type, &payload).await?;
        }
        write_answers(connection, answers).await
    }

    async fn write_balances(&self, connection: &mut AnyConnection) -> Result<(), WriteError> {
        let mut rows = Vec::new();
        for (workspace_id, funds) in &self.funds {
            let available = funds.available_micro - funds.read_micro.0;
            let reserved = funds.reserved_micro - funds.read_micro.1;
            if funds.booked {
                rows.push(vec![
                    Value::from(workspace_id),
                    available.into(),
                    reserved.into(),
                    funds.last_us.into(),
                ]);
            }
        }
        update_all(
            connection,
            "update balances set available_micro = balances.available_micro + v.column2,
                                 reserved_micro = balances.reserved_micro + v.column3,
                                 last_us = v.column4
             from (values ",
            rows,
            ") as v where balances.workspace_id = v.column1
               and balances.available_micro + v.column2 >= 0 and balances.reserved_micro + v.column3 >= 0",
            "a balance",
        )
        .await
    }

    async fn write_keys(&self, connection: &mut AnyConnection) -> Result<(), WriteError> {
        let changed = self.keys.iter().filter(|(_, key)| key.changed);
        let rows = changed
            .map(|(id, key)| vec![Value::from(id), key.committed_micro.into()])
            .collect();
        execute_rows(
            connection,
            "insert into key_spend (key_id, committed_micro) values ",
            rows,
            " on conflict (key_id) do update set committed_micro = excluded.committed_micro",
        )
        .await?;
        Ok(())
    }

    async fn write_reservations(&self, connection: &mut AnyConnection) -> Result<(), WriteError> {
        let of = |change| {
            self.reservations
                .iter()
                .filter(move |(_, held)| held.change == change)
        };
        let made = of(Change::New).map(|(id, held)| {
            vec![
                id.into(),
                Value::from(&held.workspace_id),
                Value::from(held.key_id.as_deref().unwrap_or_default()),
                Value::from(&held.instance_id),
                held.operation.as_str().into(),
                Value::from(&held.request_id),
                held.amount_micro.into(),
                held.state.as_str().into(),
                held.settled_micro.into(),
                held.created_us.into(),
                held.finished_us.into(),
            ]
        });
        execute_rows(
            connection,
            "insert into reservations (id, workspace_id, key_id, instance_id, operation, request_id, amount_micro, state,
                settled_micro, created_us, finished_us) values ",
            made.collect(),
            "",
        )
        .await?;
        let finished = of(Change::Updated).map(|(id, held)| {
            vec![
                id.into(),
                held.state.as_str().into(),
                held.settled_micro.into(),
                held.finished_us.unwrap_or(self.now_us).into(),
            ]
        });
        update_all(
            connection,
            "update reservations set state = v.column2, settled_micro = v.column3, finished_us = v.column4
             from (values ",
            finished.collect(),
            ") as v where reservations.id = v.column1 and reservations.state = 'open'",
            "a reservation",
        )
        .await
    }

    async fn write_usage(&self, connection: &mut AnyConnection) -> Result<(), WriteError> {
        let rows = self
            .usage
            .iter()
            .map(|((workspace_id, operation, key_id), sum)| {
                vec![
                    Value::from(workspace_id),
                    Value::from(&self.day),
                    operation.as_str().into(),
                    Value::from(key_id.as_deref().unwrap_or_default()),
                    sum.requests.into(),
                    sum.cached_requests.into(),
                    sum.units.into(),
                    sum.audio_ms.into(),
                    sum.amount_micro.into(),
                ]
            });
        execute_rows(
            connection,
            "insert into usage_days (workspace_id, day, operation, key_id, requests, cached_requests, units, audio_ms,
                amount_micro) values ",
            rows.collect(),
            " on conflict (workspace_id, day, operation, key_id) do update set
                requests = usage_days.requests + excluded.requests,
                cached_requests = usage_days.cached_requests + excluded.cached_requests,
                units = usage_days.units + excluded.units,
                audio_ms = usage_days.audio_ms + excluded.audio_ms,
                amount_micro = usage_days.amount_micro + excluded.amount_micro",
        )
        .await?;
        Ok(())
    }
}

/// [`execute_rows`] that must change every one of them: what else would be `Changed`.
pub(super) async fn update_all(
    connection: &mut AnyConnection,
    before: &str,
    rows: Vec<Vec<Value>>,
    after: &str,
    what: &'static str,
) -> Result<(), WriteError> {
    let expected = rows.len() as u64;
    match execute_rows(connection, before, rows, after).await? {
        updated if updated == expected => Ok(()),
        _ => Err(WriteError::Changed(what)),
    }
}

async fn write_answers(
    connection: &mut AnyConnection,
    answers: std::collections::HashMap<(WorkspaceId, String), KeptAnswer>,
) -> Result<(), WriteError> {
    let (mut kept, mut deleted) = (Vec::new(), Vec::new());
    for ((workspace_id, key), answer) in answers {
        match answer.change {
            Change::Updated | Change::New => kept.push(vec![
                Value::from(&workspace_id),
                key.into(),
                answer.guard_id.into(),
                answer.fingerprint.into(),
                answer.state.into(),
                Value::from(&answer.instance_id),
                answer.status.into(),
                answer.headers.into(),
                (answer.body.as_ref().map_or(0, Vec::len) as i64).into(),
                answer.body.into(),
                answer.created_us.into(),
                answer.expires_us.into(),
            ]),
            Change::Deleted => deleted.push(vec![
                Value::from(&workspace_id),
                key.into(),
                answer.guard_id.into(),
            ]),
            Change::None => {}
        }
    }
    execute_rows(
        connection,
        "insert into idempotency (workspace_id, idem_key, guard_id, fingerprint, state, instance_id, status, headers,
            body_bytes, body, created_us, expires_us) values ",
        kept,
        " on conflict (workspace_id, idem_key) do update set guard_id = excluded.guard_id,
            fingerprint = excluded.fingerprint, state = excluded.state, instance_id = excluded.instance_id,
            status = excluded.status, headers = excluded.headers,
            body_bytes = excluded.body_bytes, body = excluded.body,
            created_us = excluded.created_us, expires_us = excluded.expires_us",
    )
    .await?;
    execute_rows(
        connection,
        "delete from idempotency where (workspace_id, idem_key, guard_id) in (values ",
        deleted,
        ")",
    )
    .await?;
    Ok(())
}
