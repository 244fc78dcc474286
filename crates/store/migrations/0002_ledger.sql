-- The balance row is also the workspace's lock: whoever moves its money locks this row first.
create table balances (
    workspace_id text primary key references workspaces (id),
    available_micro bigint not null check (available_micro >= 0),
    reserved_micro bigint not null check (reserved_micro >= 0),
    low_micro bigint,
    -- When the last transfer was booked: the next one is later, whatever a replica's clock says.
    last_us bigint not null default 0
);

create table transfers (
    id text primary key,
    workspace_id text not null,
    kind text not null,
    amount_micro bigint not null,
    total_after_micro bigint not null,
    operation text not null,
    units bigint not null,
    audio_ms bigint not null,
    cached bigint not null,
    key_id text not null,
    request_id text not null,
    reservation_id text not null,
    refund_of text unique,
    external_id text unique,
    memo text not null,
    created_us bigint not null
);
create index transfers_workspace on transfers (workspace_id, created_us);

create table entries (
    transfer_id text not null,
    line bigint not null,
    account text not null,
    amount_micro bigint not null,
    primary key (transfer_id, line)
);

create table reservations (
    id text primary key,
    workspace_id text not null,
    key_id text not null,
    instance_id text not null,
    operation text not null,
    request_id text not null,
    amount_micro bigint not null,
    state text not null,
    settled_micro bigint not null,
    created_us bigint not null,
    finished_us bigint
);
create index reservations_open on reservations (instance_id) where state = 'open';

-- What each key has spent and holds reserved, for its spend cap.
create table key_spend (
    key_id text primary key,
    committed_micro bigint not null check (committed_micro >= 0)
);

create table usage_days (
    workspace_id text not null,
    day text not null,
    operation text not null,
    key_id text not null,
    requests bigint not null,
    cached_requests bigint not null,
    units bigint not null,
    audio_ms bigint not null,
    amount_micro bigint not null,
    primary key (workspace_id, day, operation, key_id)
);

create table idempotency (
    workspace_id text not null,
    idem_key text not null,
    guard_id text not null,
    fingerprint text not null,
    state text not null,
    instance_id text not null,
    status bigint not null,
    headers text not null,
    body bytea,
    created_us bigint not null,
    expires_us bigint not null,
    primary key (workspace_id, idem_key)
);
create index idempotency_expiry on idempotency (expires_us);
create index idempotency_running on idempotency (instance_id) where state = 'running';

create table instances (
    id text primary key,
    started_us bigint not null,
    beat_us bigint not null,
    dead_us bigint
);
