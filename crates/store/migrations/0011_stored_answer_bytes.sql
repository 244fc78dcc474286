-- How large the body of a stored answer is, so that their sum is known without reading them. Those from before count as
-- nothing until they expire, within a day.
alter table idempotency add column body_bytes bigint not null default 0;
create index idempotency_bodies on idempotency (created_us, body_bytes) where body_bytes > 0;
