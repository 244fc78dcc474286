create table audit (
    id text primary key,
    workspace_id text,
    actor text not null,
    action text not null,
    target text not null,
    detail text not null,
    created_us bigint not null
);
create index audit_workspace on audit (workspace_id, created_us);

create table webhook_endpoints (
    id text primary key,
    workspace_id text not null references workspaces (id),
    url text not null,
    secret text not null,
    events text not null,
    created_us bigint not null,
    disabled_us bigint
);
create index webhook_endpoints_workspace on webhook_endpoints (workspace_id);

create table webhook_deliveries (
    id text primary key,
    endpoint_id text not null references webhook_endpoints (id),
    workspace_id text not null,
    event_id text not null,
    event_type text not null,
    payload text not null,
    state text not null,
    attempts bigint not null,
    next_attempt_us bigint not null,
    claimed_until_us bigint not null,
    claim text not null,
    last_status bigint,
    last_error text not null,
    created_us bigint not null,
    finished_us bigint
);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_us) where state = 'pending';
create index webhook_deliveries_workspace on webhook_deliveries (workspace_id, created_us);

create table lexicon (
    workspace_id text not null references workspaces (id),
    word text not null,
    spoken text not null,
    alphabet text not null,
    updated_us bigint not null,
    primary key (workspace_id, word)
);
