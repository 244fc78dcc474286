-- How often something was tried within a window, by a hash of what it is counted by: guesses at the password of an e-mail
-- address (whether or not it has an account), letters to one receiver. Shared by all replicas. Takes the place of
-- accounts.failed_sign_ins and accounts.locked_until_us, which only older programs still write.
create table attempts (
    name_hash text primary key,
    tried bigint not null,
    ends_us bigint not null
);
create index attempts_ends on attempts (ends_us);
