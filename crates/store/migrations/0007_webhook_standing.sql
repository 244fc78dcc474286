-- A circuit breaker for each webhook endpoint: attempts that failed in a row, until when nothing is sent there, and the
-- last success.
alter table webhook_endpoints add column failures bigint not null default 0;
alter table webhook_endpoints add column paused_until_us bigint not null default 0;
alter table webhook_endpoints add column succeeded_us bigint;
create index webhook_deliveries_claimed on webhook_deliveries (claimed_until_us) where state = 'pending';
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id) where state = 'pending';
