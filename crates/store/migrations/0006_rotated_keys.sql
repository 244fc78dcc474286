-- The keys that came from one another by rotation share a spend cap: all carry the id of the first. Empty for a key that
-- was never rotated.
alter table api_keys add column chain_id text not null default '';
create index api_keys_chain on api_keys (chain_id) where chain_id <> '';

-- Accounts that were confirmed and have not got their welcome credit yet: written in the transaction that confirms,
-- deleted when the ledger has booked it.
create table welcomes_due (
    account_id text primary key references accounts (id),
    amount_micro bigint not null
);
