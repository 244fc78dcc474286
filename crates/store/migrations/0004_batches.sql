-- Many recordings or texts in one order. The items are the queue: whoever claims one works on it, and the settled price
-- and the answer are written in one transaction.
create table batches (
    id text primary key,
    workspace_id text not null references workspaces (id),
    -- Who pays: empty for a member at the console.
    key_id text not null,
    operation text not null,
    state text not null,
    items bigint not null,
    bytes bigint not null,
    idem_key text,
    fingerprint text not null,
    -- Who is writing it down, while it is being received.
    instance_id text not null,
    created_us bigint not null,
    -- Items not begun by then fail.
    deadline_us bigint not null,
    finished_us bigint,
    -- When everything in it is deleted.
    expires_us bigint not null
);
create index batches_workspace on batches (workspace_id, created_us);
create index batches_open on batches (state) where state in ('receiving', 'running');
create index batches_expiry on batches (expires_us);
create unique index batches_idempotency on batches (workspace_id, idem_key);

create table batch_items (
    id text primary key,
    batch_id text not null references batches (id),
    workspace_id text not null,
    position bigint not null,
    custom_id text not null,
    request text not null,
    input_id text not null,
    state text not null,
    attempts bigint not null,
    next_attempt_us bigint not null,
    claim text not null,
    instance_id text not null,
    -- What came of it: JSON, and the name of the sound.
    answer text not null,
    output_id text not null,
    amount_micro bigint not null,
    finished_us bigint
);
create unique index batch_items_position on batch_items (batch_id, position);
create index batch_items_waiting on batch_items (position, next_attempt_us) where state = 'waiting';
create index batch_items_running on batch_items (instance_id) where state = 'running';

-- Recordings that came in and sounds that were made, in parts small enough not to hold up other writers.
create table batch_blobs (
    id text not null,
    part bigint not null,
    batch_id text not null references batches (id),
    bytes bytea not null,
    primary key (id, part)
);
create index batch_blobs_batch on batch_blobs (batch_id);
