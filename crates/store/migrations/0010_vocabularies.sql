-- Words and sentences of a workspace's own, for the recogniser. A new version is built beside the one in use.
create table vocabularies (
    workspace_id text not null references workspaces (id),
    name text not null,
    version bigint not null,
    state text not null,
    -- JSON: text, and words with their sounds.
    source text not null,
    words bigint not null,
    bytes bigint not null,
    -- Share of the model at every word, in millionths; 0 until it is known.
    weight_ppm bigint not null,
    created_us bigint not null,
    primary key (workspace_id, name, version)
);
create index vocabularies_building on vocabularies (created_us) where state = 'building';
