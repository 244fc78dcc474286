-- Only text, bigint and bytea columns: what SQLite and PostgreSQL both read through one driver.
create table accounts (
    id text primary key,
    email text not null unique,
    name text not null,
    password_hash text not null,
    operator bigint not null default 0,
    confirmed_us bigint,
    failed_sign_ins bigint not null default 0,
    locked_until_us bigint not null default 0,
    created_us bigint not null,
    deleted_us bigint
);

create table one_use_tokens (
    token_hash text primary key,
    account_id text not null references accounts (id),
    purpose text not null,
    created_us bigint not null,
    expires_us bigint not null,
    used_us bigint
);
create index one_use_tokens_account on one_use_tokens (account_id);

create table sessions (
    id text primary key,
    token_hash text not null unique,
    account_id text not null references accounts (id),
    created_us bigint not null,
    expires_us bigint not null,
    user_agent text not null
);
create index sessions_account on sessions (account_id);

create table workspaces (
    id text primary key,
    name text not null,
    currency text not null,
    created_us bigint not null,
    closed_us bigint
);

create table members (
    workspace_id text not null references workspaces (id),
    account_id text not null references accounts (id),
    role text not null,
    created_us bigint not null,
    primary key (workspace_id, account_id)
);
create index members_account on members (account_id);

create table invites (
    id text primary key,
    token_hash text not null unique,
    workspace_id text not null references workspaces (id),
    email text not null,
    role text not null,
    invited_by text not null,
    created_us bigint not null,
    expires_us bigint not null,
    accepted_us bigint
);
create index invites_workspace on invites (workspace_id);

create table api_keys (
    id text primary key,
    workspace_id text not null references workspaces (id),
    environment text not null,
    name text not null,
    secret_hash text not null,
    last_four text not null,
    permissions text not null,
    spend_cap_micro bigint,
    created_by text not null,
    created_us bigint not null,
    expires_us bigint,
    revoked_us bigint,
    last_used_us bigint
);
create index api_keys_workspace on api_keys (workspace_id);
