//! Keys made, replaced and ended, whoever asks for it.

use sauti_store::{AuditAction, IssuedKey, KeyId, NewKey, Store, StoreError, WorkspaceId};

use super::audit;

/// What a key that makes keys may give away is the store's rule: see `NewKey::created_by`.
pub async fn create(store: &Store, new: NewKey) -> Result<IssuedKey, StoreError> {
    let actor = new.created_by.clone();
    let issued = store.create_key(new).await?;
    let key = &issued.info;
    audit(store, Some(&key.workspace_id), &actor)
        .did_so(
            AuditAction::KeyCreated,
            &key.id,
            &key.permissions.to_string(),
        )
        .await;
    Ok(issued)
}

/// A new key like the old one, which ends at `old_ends_us`, or now.
pub async fn rotate(
    store: &Store,
    actor: &str,
    workspace_id: &WorkspaceId,
    key_id: &KeyId,
    old_ends_us: Option<i64>,
) -> Result<IssuedKey, StoreError> {
    let rotated = store.rotate_key(workspace_id, key_id, old_ends_us, actor);
    let issued = rotated.await?;
    audit(store, Some(workspace_id), actor)
        .did_so(AuditAction::KeyRotated, key_id, &issued.info.id)
        .await;
    Ok(issued)
}

pub async fn revoke(
    store: &Store,
    actor: &str,
    workspace_id: &WorkspaceId,
    key_id: &KeyId,
) -> Result<(), StoreError> {
    store.revoke_key(workspace_id, key_id).await?;
    audit(store, Some(workspace_id), actor)
        .did(AuditAction::KeyRevoked, key_id)
        .await;
    Ok(())
}
