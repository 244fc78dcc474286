-- A database as an earlier version left it: the tables of migrations 1 to 8, the rows of a demonstration that spoke, rotated a
-- key and ran a batch, and a reservation of the process that was killed. Nothing in it opens anything. Bodies are cut short.
PRAGMA foreign_keys = off;
CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
INSERT INTO "_sqlx_migrations" VALUES(1,'accounts','2026-11-17 03:04:23',1,X'64358027FD0866246BC9A2DA2C340419344B9566AACCAB5DCBF6A25E150EC40BA4BD4A01AF9D9999D6366DCD8939708C',0);
INSERT INTO "_sqlx_migrations" VALUES(2,'ledger','2026-11-17 03:04:23',1,X'ACC88FE2A31E3EA90F1C0518BD762631B17DD57586260458C3501C0DB9A5C9EEB4962FBB180A9858427B919B6022C327',0);
INSERT INTO "_sqlx_migrations" VALUES(3,'records','2026-11-17 03:04:23',1,X'68B020976DB1143A8F21D147A8686045ADEBBE3B56DFD4BDA7FC2F64564DC9EB483207E957236AB88B7B6EBA526AFF2A',0);
INSERT INTO "_sqlx_migrations" VALUES(4,'batches','2026-11-17 03:04:23',1,X'2A4C532D550ED6A80E35075326C55E165EE15364416C505BE72F3E789137C24963A63A753B0F1DB16B3899084F594181',0);
INSERT INTO "_sqlx_migrations" VALUES(5,'live limits','2026-11-17 03:04:23',1,X'597A412EFB0E416111E66BC86939F2AA3B95B762BBCBD3298ADCA75B9DDC85D2096A101890DC7B0769A169377329C925',0);
INSERT INTO "_sqlx_migrations" VALUES(6,'rotated keys','2026-11-17 03:04:23',1,X'F79C1D0F71A024A15941692861F233B31626757FE2DF1A96CC05D8FAF3E931EBDF4CF9F566FA35F72C5E9E30BA694E74',0);
INSERT INTO "_sqlx_migrations" VALUES(7,'webhook standing','2026-11-17 03:04:23',1,X'B0B57F6BBDE31EB6BC3C66229A5A4A39691607A3DD5C231B4B0734F19A4131300305F15BBDCBF2151A382CB09C3E8532',0);
INSERT INTO "_sqlx_migrations" VALUES(8,'attempts','2026-11-17 03:04:23',1,X'46977DAFE033B1BF9C9D001A6F07104E551E574A31A462196EC5B80D0F7892218FAA2030254101776A62655871C5B1BD',0);
CREATE TABLE accounts (
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
INSERT INTO "accounts" VALUES('acc_01m7kqcyekehwtmgy3pwq1a8na','demo@sauti.localhost','Demo','$argon2id$v=19$m=19456,t=2,p=1$nZWB/6WqFKly89WjJ/Lkqg$x47FXrRkGDlS3D9fYw/9VIvpT8nwBm2GYPrIud7clH8',1,1794884663827133,0,0,1794884663763145,NULL);
CREATE TABLE api_keys (
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
, chain_id text not null default '');
INSERT INTO "api_keys" VALUES('key_01m7kqcyh8ex590by5t5xqhpzd','ws_01m7kqcyfxe0brae1cndbyzjxy','live','Demo','b4fe622fe57a6aae9e9b661fa17a3aaae6b134c995fcdec029d41a5233e9860c','XjyP','speech,transcription,voices,usage,keys',NULL,'cli',1794884663848214,NULL,NULL,1794884741091520,'');
INSERT INTO "api_keys" VALUES('key_01m7kqe39ze2vvz36rgatkny11','ws_01m7kqcyfxe0brae1cndbyzjxy','live','simu','832ce2f150a79f9e3064bea2a8bf457c1781a00419557adcda4fccc0906e4e51','kVMU','speech',5000000,'key_01m7kqcyh8ex590by5t5xqhpzd',1794884701503334,NULL,NULL,1794884701546385,'');
INSERT INTO "api_keys" VALUES('key_01m7kqedyfedet9p47nzjn5ezc','ws_01m7kqcyfxe0brae1cndbyzjxy','live','simu','2eaabec8dca7942088f16e8f6414196e50b2ba0d6a9df217935854305909fa10','wJzG','speech',5000000,'key_01m7kqcyh8ex590by5t5xqhpzd',1794884712399364,NULL,1794884712543986,1794884712440765,'key_01m7kqedyfedet9p47nzjn5ezc');
INSERT INTO "api_keys" VALUES('key_01m7kqee2keb88j0q0ksbeypxq','ws_01m7kqcyfxe0brae1cndbyzjxy','live','simu','659342f005fe7e39db93d7c1ee932e81324e5781b2dfef6ec5c6ddca778066f2','CqwB','speech',5000000,'key_01m7kqcyh8ex590by5t5xqhpzd',1794884712531416,NULL,NULL,NULL,'key_01m7kqedyfedet9p47nzjn5ezc');
CREATE TABLE attempts (
    name_hash text primary key,
    tried bigint not null,
    ends_us bigint not null
);
CREATE TABLE audit (
    id text primary key,
    workspace_id text,
    actor text not null,
    action text not null,
    target text not null,
    detail text not null,
    created_us bigint not null
);
INSERT INTO "audit" VALUES('evt_01m7kqcyfkee2r0x16eekygj6f',NULL,'cli','account.create','acc_01m7kqcyekehwtmgy3pwq1a8na','',1794884663795256);
INSERT INTO "audit" VALUES('evt_01m7kqcyg7e2bs5hgbvga3y89v','ws_01m7kqcyfxe0brae1cndbyzjxy','cli','workspace.create','ws_01m7kqcyfxe0brae1cndbyzjxy','',1794884663815162);
INSERT INTO "audit" VALUES('evt_01m7kqcygsem79ww46tr07fkap',NULL,'cli','account.confirm','acc_01m7kqcyekehwtmgy3pwq1a8na','',1794884663833723);
INSERT INTO "audit" VALUES('evt_01m7kqcyhbe3a9d8p6p138p4pz','ws_01m7kqcyfxe0brae1cndbyzjxy','cli','key.create','key_01m7kqcyh8ex590by5t5xqhpzd','',1794884663851893);
INSERT INTO "audit" VALUES('evt_01m7kqcyhee5htth64w8zd719p','ws_01m7kqcyfxe0brae1cndbyzjxy','cli','workspace.bootstrap','acc_01m7kqcyekehwtmgy3pwq1a8na','',1794884663854443);
INSERT INTO "audit" VALUES('evt_01m7kqe3a7ety8s6rd0ewh1mr9','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','key.created','key_01m7kqe39ze2vvz36rgatkny11','',1794884701511324);
INSERT INTO "audit" VALUES('evt_01m7kqedyzedx86avyd0qrh7n5','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','key.created','key_01m7kqedyfedet9p47nzjn5ezc','',1794884712415368);
INSERT INTO "audit" VALUES('evt_01m7kqee37ecsswtk1qr89ea5k','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','key.rotated','key_01m7kqedyfedet9p47nzjn5ezc','',1794884712551474);
INSERT INTO "audit" VALUES('evt_01m7kqee4kezcb0vtf3mqmn6k2','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','webhook.created','hook_01m7kqee43eeyvpghzhdttjnvt','',1794884712595340);
INSERT INTO "audit" VALUES('evt_01m7kqfh57emj8rhryrqqa8gmf','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','lexicon.set','mpesa','',1794884748455674);
INSERT INTO "audit" VALUES('evt_01m7kqfh87exattykwnp40zgf0','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','batch.created','batch_01m7kqfh6cegnsxxy63jam6yap','',1794884748551616);
CREATE TABLE balances (
    workspace_id text primary key references workspaces (id),
    available_micro bigint not null check (available_micro >= 0),
    reserved_micro bigint not null check (reserved_micro >= 0),
    low_micro bigint,
    -- When the last transfer was booked: the next one is later, whatever a replica's clock says.
    last_us bigint not null default 0
);
INSERT INTO "balances" VALUES('ws_01m7kqcyfxe0brae1cndbyzjxy',999901000,5000,NULL,1794884750000000);
CREATE TABLE batch_blobs (
    id text not null,
    part bigint not null,
    batch_id text not null references batches (id),
    bytes bytea not null,
    primary key (id, part)
);
INSERT INTO "batch_blobs" VALUES('sound_01m7kqfj0sewprd5zzrgaxk19g',0,'batch_01m7kqfh6cegnsxxy63jam6yap',X'4F676753');
INSERT INTO "batch_blobs" VALUES('sound_01m7kqfj1fe2ktx8depg683q7p',0,'batch_01m7kqfh6cegnsxxy63jam6yap',X'4F676753');
CREATE TABLE batch_items (
    id text primary key,
    batch_id text not null references batches (id),
    workspace_id text not null,
    position bigint not null,
    custom_id text not null,
    request text not null,
    input_id text not null,
    state text not null,
    attempts bigint not null,
    next_attempt_us bigint not null,
    claim text not null,
    instance_id text not null,
    -- What came of it: JSON, and the name of the sound.
    answer text not null,
    output_id text not null,
    amount_micro bigint not null,
    finished_us bigint
);
INSERT INTO "batch_items" VALUES('item_01m7kqfh6qef4904kj7b8n13j2','batch_01m7kqfh6cegnsxxy63jam6yap','ws_01m7kqcyfxe0brae1cndbyzjxy',0,'a','{"output_format":"opus_48000","speed":1.0,"ssml":false,"text":"Moja.","timestamps":false,"voice_id":"asha"}','','done',1,0,'','proc_01m7kqew6qe51978sp9431b2pw','{"bytes":3689,"cached":false,"content_type":"audio/ogg; codecs=opus","normalised_text":"Moja.","output_format":"opus_48000","seconds":0.731625,"units":5,"voice_id":"asha"}','sound_01m7kqfj1fe2ktx8depg683q7p',10000,1794884749491066);
INSERT INTO "batch_items" VALUES('item_01m7kqfh6qef4904kj7ffv1rzz','batch_01m7kqfh6cegnsxxy63jam6yap','ws_01m7kqcyfxe0brae1cndbyzjxy',1,'b','{"output_format":"opus_48000","speed":1.0,"ssml":false,"text":"Mbili.","timestamps":false,"voice_id":"asha"}','','done',1,0,'','proc_01m7kqew6qe51978sp9431b2pw','{"bytes":3462,"cached":false,"content_type":"audio/ogg; codecs=opus","normalised_text":"Mbili.","output_format":"opus_48000","seconds":0.691625,"units":6,"voice_id":"asha"}','sound_01m7kqfj0sewprd5zzrgaxk19g',12000,1794884749391079);
CREATE TABLE batches (
    id text primary key,
    workspace_id text not null references workspaces (id),
    -- Who pays: empty for a member at the console.
    key_id text not null,
    operation text not null,
    state text not null,
    items bigint not null,
    bytes bigint not null,
    idem_key text,
    fingerprint text not null,
    -- Who is writing it down, while it is being received.
    instance_id text not null,
    created_us bigint not null,
    -- Items not begun by then fail.
    deadline_us bigint not null,
    finished_us bigint,
    -- When everything in it is deleted.
    expires_us bigint not null
);
INSERT INTO "batches" VALUES('batch_01m7kqfh6cegnsxxy63jam6yap','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','speech','finished',2,35200,NULL,'0287a3717cbc1af752e20b69e9ddc9825a613fcaf465d7064b8521ccd2fdf401','proc_01m7kqew6qe51978sp9431b2pw',1794884748492573,1794971148492573,1794884749475460,32503680000000000);
CREATE TABLE entries (
    transfer_id text not null,
    line bigint not null,
    account text not null,
    amount_micro bigint not null,
    primary key (transfer_id, line)
);
INSERT INTO "entries" VALUES('tr_01m7kqcygte13837g5skv5y9br',0,'funding/KES',-1000000000);
INSERT INTO "entries" VALUES('tr_01m7kqcygte13837g5skv5y9br',1,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',1000000000);
INSERT INTO "entries" VALUES('tr_01m7kqe2aqe8r9hm6461kg9bcp',0,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',-14000);
INSERT INTO "entries" VALUES('tr_01m7kqe2aqe8r9hm6461kg9bcp',1,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',14000);
INSERT INTO "entries" VALUES('tr_01m7kqe35zeqsbfg71e9a2824y',0,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',-14000);
INSERT INTO "entries" VALUES('tr_01m7kqe35zeqsbfg71e9a2824y',1,'revenue/KES',14000);
INSERT INTO "entries" VALUES('tr_01m7kqe35zeqsbfg71e9a2824y',2,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',0);
INSERT INTO "entries" VALUES('tr_01m7kqe385e64s83q8ac4aqqtm',0,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',-10000);
INSERT INTO "entries" VALUES('tr_01m7kqe385e64s83q8ac4aqqtm',1,'revenue/KES',10000);
INSERT INTO "entries" VALUES('tr_01m7kqe3bbe10rs1kddk1553yp',0,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',-32000);
INSERT INTO "entries" VALUES('tr_01m7kqe3bbe10rs1kddk1553yp',1,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',32000);
INSERT INTO "entries" VALUES('tr_01m7kqe4kzeqwtz4hbpzbkc9zk',0,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',-32000);
INSERT INTO "entries" VALUES('tr_01m7kqe4kzeqwtz4hbpzbkc9zk',1,'revenue/KES',32000);
INSERT INTO "entries" VALUES('tr_01m7kqe4kzeqwtz4hbpzbkc9zk',2,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',0);
INSERT INTO "entries" VALUES('tr_01m7kqedzseqctnk3th0zwkyay',0,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',-16000);
INSERT INTO "entries" VALUES('tr_01m7kqedzseqctnk3th0zwkyay',1,'revenue/KES',16000);
INSERT INTO "entries" VALUES('tr_01m7kqfh99eska8zm4j6e1q7ys',0,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',-12000);
INSERT INTO "entries" VALUES('tr_01m7kqfh99eska8zm4j6e1q7ys',1,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',12000);
INSERT INTO "entries" VALUES('tr_01m7kqfh99eska8zm4jcd9db4w',0,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',-10000);
INSERT INTO "entries" VALUES('tr_01m7kqfh99eska8zm4jcd9db4w',1,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',10000);
INSERT INTO "entries" VALUES('tr_01m7kqfj1fe2ktx8depnw6f2cy',0,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',-12000);
INSERT INTO "entries" VALUES('tr_01m7kqfj1fe2ktx8depnw6f2cy',1,'revenue/KES',12000);
INSERT INTO "entries" VALUES('tr_01m7kqfj1fe2ktx8depnw6f2cy',2,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',0);
INSERT INTO "entries" VALUES('tr_01m7kqfj1ze3zrn6mr8afggp3p',0,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',-10000);
INSERT INTO "entries" VALUES('tr_01m7kqfj1ze3zrn6mr8afggp3p',1,'revenue/KES',10000);
INSERT INTO "entries" VALUES('tr_01m7kqfj1ze3zrn6mr8afggp3p',2,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',0);
INSERT INTO "entries" VALUES('tr_01m7kqfk0000000000000000zz',0,'available/ws_01m7kqcyfxe0brae1cndbyzjxy',-5000);
INSERT INTO "entries" VALUES('tr_01m7kqfk0000000000000000zz',1,'reserved/ws_01m7kqcyfxe0brae1cndbyzjxy',5000);
CREATE TABLE idempotency (
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
INSERT INTO "idempotency" VALUES('ws_01m7kqcyfxe0brae1cndbyzjxy','karibu-1','idem_01m7kqe380efrrjksnwxd5021v','e16d982a4a483c92e239438211e4655157dbea353fd62f2fd277836307808aa8','done','proc_01m7kqcy47ecraz527p6thyq44',200,'[["content-type","audio/ogg; codecs=opus"],["content-length","3950"],["sauti-voice","asha"],["sauti-units","7"],["sauti-cost","10000"],["sauti-cache","hit"],["sauti-currency","KES"]]',X'4F676753',1794884701443090,32503680000000000);
CREATE TABLE instances (
    id text primary key,
    started_us bigint not null,
    beat_us bigint not null,
    dead_us bigint
);
INSERT INTO "instances" VALUES('proc_01m7kqcy47ecraz527p6thyq44',1794884663437999,1794884663437999,1794884663437999);
INSERT INTO "instances" VALUES('proc_01m7kqew6qe51978sp9431b2pw',1794884727005991,1794884727005991,NULL);
CREATE TABLE invites (
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
CREATE TABLE key_spend (
    key_id text primary key,
    committed_micro bigint not null check (committed_micro >= 0)
);
INSERT INTO "key_spend" VALUES('key_01m7kqcyh8ex590by5t5xqhpzd',51000);
INSERT INTO "key_spend" VALUES('key_01m7kqe39ze2vvz36rgatkny11',32000);
INSERT INTO "key_spend" VALUES('key_01m7kqedyfedet9p47nzjn5ezc',16000);
CREATE TABLE lexicon (
    workspace_id text not null references workspaces (id),
    word text not null,
    spoken text not null,
    alphabet text not null,
    updated_us bigint not null,
    primary key (workspace_id, word)
);
INSERT INTO "lexicon" VALUES('ws_01m7kqcyfxe0brae1cndbyzjxy','mpesa','em pesa','respelling',1794884748442009);
CREATE TABLE live_limits (
    name text primary key,
    value bigint not null,
    changed_us bigint not null
);
CREATE TABLE members (
    workspace_id text not null references workspaces (id),
    account_id text not null references accounts (id),
    role text not null,
    created_us bigint not null,
    primary key (workspace_id, account_id)
);
INSERT INTO "members" VALUES('ws_01m7kqcyfxe0brae1cndbyzjxy','acc_01m7kqcyekehwtmgy3pwq1a8na','owner',1794884663806561);
CREATE TABLE one_use_tokens (
    token_hash text primary key,
    account_id text not null references accounts (id),
    purpose text not null,
    created_us bigint not null,
    expires_us bigint not null,
    used_us bigint
);
CREATE TABLE reservations (
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
INSERT INTO "reservations" VALUES('res_01m7kqe2aqe8r9hm645yq80hm4','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','proc_01m7kqcy47ecraz527p6thyq44','speech','req_01a1e77709537557a21ce7266cbd04a9',14000,'settled',14000,1794884700510675,1794884701377436);
INSERT INTO "reservations" VALUES('res_01m7kqe3bbe10rs1kddc7yn4gf','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqe39ze2vvz36rgatkny11','proc_01m7kqcy47ecraz527p6thyq44','speech','req_01a1e7770d6876d4b00f844e1d92e49a',32000,'settled',32000,1794884701547421,1794884702847788);
INSERT INTO "reservations" VALUES('res_01m7kqfh99eska8zm4j35njhb4','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','proc_01m7kqew6qe51978sp9431b2pw','speech','item_01m7kqfh6qef4904kj7ffv1rzz',12000,'settled',12000,1794884748594860,1794884749391079);
INSERT INTO "reservations" VALUES('res_01m7kqfh99eska8zm4jb7jmjp1','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','proc_01m7kqew6qe51978sp9431b2pw','speech','item_01m7kqfh6qef4904kj7b8n13j2',10000,'settled',10000,1794884748643961,1794884749491066);
INSERT INTO "reservations" VALUES('res_01m7kqfk0000000000000000zz','ws_01m7kqcyfxe0brae1cndbyzjxy','key_01m7kqcyh8ex590by5t5xqhpzd','proc_01m7kqew6qe51978sp9431b2pw','speech','req_cut_off',5000,'open',0,1794884750000000,NULL);
CREATE TABLE sessions (
    id text primary key,
    token_hash text not null unique,
    account_id text not null references accounts (id),
    created_us bigint not null,
    expires_us bigint not null,
    user_agent text not null
);
CREATE TABLE transfers (
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
INSERT INTO "transfers" VALUES('tr_01m7kqcygte13837g5skv5y9br','ws_01m7kqcyfxe0brae1cndbyzjxy','credit',1000000000,1000000000,'',0,0,0,'','','',NULL,'bootstrap:ws_01m7kqcyfxe0brae1cndbyzjxy','bootstrap',1794884663834562);
INSERT INTO "transfers" VALUES('tr_01m7kqe2aqe8r9hm6461kg9bcp','ws_01m7kqcyfxe0brae1cndbyzjxy','reserve',14000,1000000000,'speech',0,0,0,'key_01m7kqcyh8ex590by5t5xqhpzd','req_01a1e77709537557a21ce7266cbd04a9','res_01m7kqe2aqe8r9hm645yq80hm4',NULL,NULL,'',1794884700510675);
INSERT INTO "transfers" VALUES('tr_01m7kqe35zeqsbfg71e9a2824y','ws_01m7kqcyfxe0brae1cndbyzjxy','settle',14000,999986000,'speech',7,793,0,'key_01m7kqcyh8ex590by5t5xqhpzd','req_01a1e77709537557a21ce7266cbd04a9','res_01m7kqe2aqe8r9hm645yq80hm4',NULL,NULL,'',1794884701377436);
INSERT INTO "transfers" VALUES('tr_01m7kqe385e64s83q8ac4aqqtm','ws_01m7kqcyfxe0brae1cndbyzjxy','charge',10000,999976000,'speech',7,793,1,'key_01m7kqcyh8ex590by5t5xqhpzd','req_01a1e7770cff7299a89f95895453a33f','',NULL,NULL,'',1794884701445558);
INSERT INTO "transfers" VALUES('tr_01m7kqe3bbe10rs1kddk1553yp','ws_01m7kqcyfxe0brae1cndbyzjxy','reserve',32000,999976000,'speech',0,0,0,'key_01m7kqe39ze2vvz36rgatkny11','req_01a1e7770d6876d4b00f844e1d92e49a','res_01m7kqe3bbe10rs1kddc7yn4gf',NULL,NULL,'',1794884701547421);
INSERT INTO "transfers" VALUES('tr_01m7kqe4kzeqwtz4hbpzbkc9zk','ws_01m7kqcyfxe0brae1cndbyzjxy','settle',32000,999944000,'speech',16,1448,0,'key_01m7kqe39ze2vvz36rgatkny11','req_01a1e7770d6876d4b00f844e1d92e49a','res_01m7kqe3bbe10rs1kddc7yn4gf',NULL,NULL,'',1794884702847788);
INSERT INTO "transfers" VALUES('tr_01m7kqedzseqctnk3th0zwkyay','ws_01m7kqcyfxe0brae1cndbyzjxy','charge',16000,999928000,'speech',16,1448,1,'key_01m7kqedyfedet9p47nzjn5ezc','req_01a1e77737f777ed9676a03ce5ed4a6b','',NULL,NULL,'',1794884712455029);
INSERT INTO "transfers" VALUES('tr_01m7kqfh99eska8zm4j6e1q7ys','ws_01m7kqcyfxe0brae1cndbyzjxy','reserve',12000,999928000,'speech',0,0,0,'key_01m7kqcyh8ex590by5t5xqhpzd','item_01m7kqfh6qef4904kj7ffv1rzz','res_01m7kqfh99eska8zm4j35njhb4',NULL,NULL,'',1794884748594860);
INSERT INTO "transfers" VALUES('tr_01m7kqfh99eska8zm4jcd9db4w','ws_01m7kqcyfxe0brae1cndbyzjxy','reserve',10000,999928000,'speech',0,0,0,'key_01m7kqcyh8ex590by5t5xqhpzd','item_01m7kqfh6qef4904kj7b8n13j2','res_01m7kqfh99eska8zm4jb7jmjp1',NULL,NULL,'',1794884748643961);
INSERT INTO "transfers" VALUES('tr_01m7kqfj1fe2ktx8depnw6f2cy','ws_01m7kqcyfxe0brae1cndbyzjxy','settle',12000,999916000,'speech',6,692,0,'key_01m7kqcyh8ex590by5t5xqhpzd','item_01m7kqfh6qef4904kj7ffv1rzz','res_01m7kqfh99eska8zm4j35njhb4',NULL,NULL,'',1794884749391079);
INSERT INTO "transfers" VALUES('tr_01m7kqfj1ze3zrn6mr8afggp3p','ws_01m7kqcyfxe0brae1cndbyzjxy','settle',10000,999906000,'speech',5,732,0,'key_01m7kqcyh8ex590by5t5xqhpzd','item_01m7kqfh6qef4904kj7b8n13j2','res_01m7kqfh99eska8zm4jb7jmjp1',NULL,NULL,'',1794884749491066);
INSERT INTO "transfers" VALUES('tr_01m7kqfk0000000000000000zz','ws_01m7kqcyfxe0brae1cndbyzjxy','reserve',5000,999906000,'speech',0,0,0,'key_01m7kqcyh8ex590by5t5xqhpzd','req_cut_off','res_01m7kqfk0000000000000000zz',NULL,NULL,'',1794884750000000);
CREATE TABLE usage_days (
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
INSERT INTO "usage_days" VALUES('ws_01m7kqcyfxe0brae1cndbyzjxy','2026-11-17','speech','key_01m7kqcyh8ex590by5t5xqhpzd',4,1,25,3010,46000);
INSERT INTO "usage_days" VALUES('ws_01m7kqcyfxe0brae1cndbyzjxy','2026-11-17','speech','key_01m7kqe39ze2vvz36rgatkny11',1,0,16,1448,32000);
INSERT INTO "usage_days" VALUES('ws_01m7kqcyfxe0brae1cndbyzjxy','2026-11-17','speech','key_01m7kqedyfedet9p47nzjn5ezc',1,1,16,1448,16000);
CREATE TABLE webhook_deliveries (
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
CREATE TABLE webhook_endpoints (
    id text primary key,
    workspace_id text not null references workspaces (id),
    url text not null,
    secret text not null,
    events text not null,
    created_us bigint not null,
    disabled_us bigint
, failures bigint not null default 0, paused_until_us bigint not null default 0, succeeded_us bigint);
INSERT INTO "webhook_endpoints" VALUES('hook_01m7kqee43eeyvpghzhdttjnvt','ws_01m7kqcyfxe0brae1cndbyzjxy','https://example.com/hook','whsec_2hp4jaIwSWBQbqz0OT6f7qHfoVBrMnIM1ozAZD3q','balance.low',1794884712579336,NULL,0,0,NULL);
CREATE TABLE welcomes_due (
    account_id text primary key references accounts (id),
    amount_micro bigint not null
);
CREATE TABLE workspaces (
    id text primary key,
    name text not null,
    currency text not null,
    created_us bigint not null,
    closed_us bigint
);
INSERT INTO "workspaces" VALUES('ws_01m7kqcyfxe0brae1cndbyzjxy','Demo','KES',1794884663805722,NULL);
CREATE INDEX one_use_tokens_account on one_use_tokens (account_id);
CREATE INDEX sessions_account on sessions (account_id);
CREATE INDEX members_account on members (account_id);
CREATE INDEX invites_workspace on invites (workspace_id);
CREATE INDEX api_keys_workspace on api_keys (workspace_id);
CREATE INDEX transfers_workspace on transfers (workspace_id, created_us);
CREATE INDEX reservations_open on reservations (instance_id) where state = 'open';
CREATE INDEX idempotency_expiry on idempotency (expires_us);
CREATE INDEX idempotency_running on idempotency (instance_id) where state = 'running';
CREATE INDEX audit_workspace on audit (workspace_id, created_us);
CREATE INDEX webhook_endpoints_workspace on webhook_endpoints (workspace_id);
CREATE INDEX webhook_deliveries_due on webhook_deliveries (next_attempt_us) where state = 'pending';
CREATE INDEX webhook_deliveries_workspace on webhook_deliveries (workspace_id, created_us);
CREATE INDEX batches_workspace on batches (workspace_id, created_us);
CREATE INDEX batches_open on batches (state) where state in ('receiving', 'running');
CREATE INDEX batches_expiry on batches (expires_us);
CREATE UNIQUE INDEX batches_idempotency on batches (workspace_id, idem_key);
CREATE UNIQUE INDEX batch_items_position on batch_items (batch_id, position);
CREATE INDEX batch_items_waiting on batch_items (position, next_attempt_us) where state = 'waiting';
CREATE INDEX batch_items_running on batch_items (instance_id) where state = 'running';
CREATE INDEX batch_blobs_batch on batch_blobs (batch_id);
CREATE INDEX api_keys_chain on api_keys (chain_id) where chain_id <> '';
CREATE INDEX webhook_deliveries_claimed on webhook_deliveries (claimed_until_us) where state = 'pending';
CREATE INDEX webhook_deliveries_endpoint on webhook_deliveries (endpoint_id) where state = 'pending';
CREATE INDEX attempts_ends on attempts (ends_us);
