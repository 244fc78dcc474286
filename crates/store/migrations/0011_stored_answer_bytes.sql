-- How large the body of a stored answer is, so that their sum is known without reading them.
alter table idempotency add column body_bytes bigint not null default 0;
update idempotency set body_bytes = length(body) where body is not null;
create index idempotency_bodies on idempotency (created_us, body_bytes) where body_bytes > 0;
