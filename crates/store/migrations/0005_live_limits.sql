-- Limits that an operator changed while the service runs; every process looks here every few seconds.
create table live_limits (
    name text primary key,
    value bigint not null,
    changed_us bigint not null
);
