-- `"$schema"` stands for the schema that holds the tables.
--
-- - Text compares by its bytes (`COLLATE "C"`), so that an update of the system's own sort order breaks no index.
-- - Instants are epoch milliseconds in double precision, as they come.
-- - `tasks.record` is the record's JSON to the byte; the other columns serve searches. None of them changes with an ordinary
--   revision, which then touches no index (a heap-only update, for which `fillfactor` leaves room).
-- - Almost every revision changes the time of the next wake-up, so that time is in a narrow table of its own. Claims are no part
--   of any index.
-- - Refs and start keys are found by 64 bits of their hash, which keeps those indexes small; the caller compares the text.
-- - The first chunk of a payload is in its own row; further chunks are in `payload_chunks` by the number in `content`.
-- - The ID of a removed task stays taken for a while by a row of `unique_keys` under `removed:` and the ID. No key of a caller
--   begins like that (to-key.ts), and `sweep` deletes the row like any other key that has lapsed.
-- - A crash of the server empties the table of leases; the holders are cut off by it as well.

CREATE TABLE "$schema".tasks (
  task_id text COLLATE "C" PRIMARY KEY,
  revision integer NOT NULL,
  owner text COLLATE "C",
  tool text COLLATE "C" NOT NULL,
  adapter_id text COLLATE "C" NOT NULL,
  start_key_hash bigint NOT NULL,
  ref_hash bigint,
  created_at double precision NOT NULL,
  slot_held boolean NOT NULL,
  expired boolean NOT NULL,
  record text NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX tasks_by_owner ON "$schema".tasks (owner, created_at, task_id);
CREATE INDEX tasks_by_age ON "$schema".tasks (created_at, task_id);
CREATE INDEX tasks_open_by_owner ON "$schema".tasks (owner, created_at, task_id) WHERE slot_held;
CREATE INDEX tasks_open_by_tool ON "$schema".tasks (tool, created_at, task_id) WHERE slot_held;
CREATE INDEX tasks_open_by_adapter ON "$schema".tasks (adapter_id, created_at, task_id) WHERE slot_held;
CREATE INDEX tasks_by_start_key ON "$schema".tasks (start_key_hash);
CREATE INDEX tasks_by_ref ON "$schema".tasks (ref_hash) WHERE ref_hash IS NOT NULL;

CREATE TABLE "$schema".wakes (
  task_id text COLLATE "C" PRIMARY KEY,
  wake_at double precision NOT NULL,
  claimed_until double precision NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
CREATE INDEX wakes_by_time ON "$schema".wakes (wake_at);

CREATE TABLE "$schema".unique_keys (
  key text COLLATE "C" PRIMARY KEY,
  task_id text COLLATE "C" NOT NULL,
  until double precision,
  held_for_ms double precision
-- Each removed task adds a row that is deleted later.
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX unique_keys_by_task ON "$schema".unique_keys (task_id);
CREATE INDEX unique_keys_by_until ON "$schema".unique_keys (until) WHERE until IS NOT NULL;

CREATE SEQUENCE "$schema".payload_contents;
CREATE TABLE "$schema".payloads (
  task_id text COLLATE "C",
  name text COLLATE "C",
  total_bytes bigint NOT NULL,
  content bigint,
  first_bytes bytea NOT NULL,
  PRIMARY KEY (task_id, name)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE TABLE "$schema".payload_chunks (
  content bigint,
  position integer,
  bytes bytea NOT NULL,
  PRIMARY KEY (content, position)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
-- Not compressed: whole bytes of a chunk are read without the rest.
ALTER TABLE "$schema".payloads ALTER COLUMN first_bytes SET STORAGE EXTERNAL;
ALTER TABLE "$schema".payload_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE "$schema".payload_garbage (content bigint PRIMARY KEY);

CREATE TABLE "$schema".stored_values (name text COLLATE "C" PRIMARY KEY, value text NOT NULL) WITH (fillfactor = 50);
CREATE UNLOGGED TABLE "$schema".leases (
  name text COLLATE "C" PRIMARY KEY,
  holder text NOT NULL,
  until double precision NOT NULL
) WITH (fillfactor = 50);
