//! Recordings and sounds in parts, so that neither memory nor the one writer of SQLite is held for long.

use crate::{BatchId, BlobId, Store, StoreError};

pub const BLOB_PART_BYTES: usize = 512 << 10;

impl Store {
    pub async fn add_blob_part(
        &self,
        batch_id: &BatchId,
        blob_id: &BlobId,
        part: i64,
        bytes: Vec<u8>,
    ) -> Result<(), StoreError> {
        if bytes.len() > BLOB_PART_BYTES {
            return Err(StoreError::invalid("bytes", "are more than a part holds"));
        }
        sqlx::query("insert into batch_blobs (id, part, batch_id, bytes) values ($1, $2, $3, $4)")
            .bind(blob_id)
            .bind(part)
            .bind(batch_id)
            .bind(bytes)
            .execute(self.write())
            .await?;
        Ok(())
    }

    /// `None` after the last part.
    pub async fn blob_part(
        &self,
        blob_id: &BlobId,
        part: i64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "select bytes from batch_blobs where id = $1 and part = $2";
        Ok(sqlx::query_scalar(sql)
            .bind(blob_id)
            .bind(part)
            .fetch_optional(self.read())
            .await?)
    }

    /// What nobody needs any more: a recording that was read, a sound that was not sold.
    pub async fn delete_blob(&self, blob_id: &BlobId) -> Result<(), StoreError> {
        sqlx::query("delete from batch_blobs where id = $1")
            .bind(blob_id)
            .execute(self.write())
            .await?;
        Ok(())
    }
}
