//! Items of batches: the answer of one is written with its price, and only for whoever holds the claim.

use sqlx::AnyConnection;

use super::commit_group::{CommitGroup, distinct};
use super::needs::RowsNeeded;
use super::types::FinishedItem;
use super::write::{WriteError, update_all};
use crate::rows::{Value, select_in};
use crate::{ItemId, LedgerError};

impl CommitGroup {
    pub(super) async fn load_items(
        &mut self,
        connection: &mut AnyConnection,
        needs: &[RowsNeeded<'_>],
    ) -> Result<(), sqlx::Error> {
        let items = needs.iter().filter_map(|needs| needs.item);
        let ids = distinct(items.map(|item| item.item_id.as_str()));
        let rows: Vec<(ItemId, String)> = select_in(
            connection,
            "select id, claim from batch_items where state = 'running' and id",
            &ids,
            "",
        )
        .await?;
        self.items.extend(rows);
        Ok(())
    }

    pub(super) fn check_item(&self, item: &FinishedItem) -> Result<(), LedgerError> {
        match self.items.get(&item.item_id) {
            Some(claim) if *claim == item.claim => Ok(()),
            _ => Err(LedgerError::ClaimLost),
        }
    }

    pub(super) fn finish_item(&mut self, item: &FinishedItem, amount_micro: i64) {
        // A second report on it in the same group must find it gone.
        self.items.remove(&item.item_id);
        self.finished_items.push(vec![
            Value::from(&item.item_id),
            Value::from(&item.claim),
            Value::from(&item.answer),
            item.output_id.as_deref().unwrap_or_default().into(),
            amount_micro.into(),
            self.now_us.into(),
        ]);
    }
}

pub(super) async fn write_items(
    connection: &mut AnyConnection,
    finished: Vec<Vec<Value>>,
) -> Result<(), WriteError> {
    // A sweep or a cancelled batch may take it between the look and the write: look again.
    update_all(
        connection,
        "update batch_items set state = 'done', claim = '', answer = v.column3, output_id = v.column4,
                amount_micro = v.column5, finished_us = v.column6
         from (values ",
        finished,
        ") as v where batch_items.id = v.column1 and batch_items.claim = v.column2 and batch_items.state = 'running'",
        "an item",
    )
    .await
}
