/** Bytes of a payload in one row; a range read touches only the rows it overlaps. Part of the schema. */
export const chunkBytes = 65_536;

/**
 * The tables of schema version 1. `schema` is a quoted identifier.
 *
 * - Text compares by its bytes (`COLLATE "C"`), so that an update of the system's own sort order breaks no index.
 * - Instants are epoch milliseconds in double precision, as they come.
 * - `tasks.record` is the record's JSON to the byte; the other columns are what is searched for. None of them changes with
 *   an ordinary revision, which then touches no index (a heap-only update, for which `fillfactor` leaves room).
 * - What changes with almost every revision, the time of the next wake-up, is in a narrow table of its own. Claims are no
 *   part of any index.
 * - Refs and start keys are found by 64 bits of their hash, which keeps those indexes small; the caller compares the text.
 * - The first chunk of a payload is in its own row; more of them, if any, in `payload_chunks` by the number in `content`.
 * - Leases are lost in a crash of the server, with whoever held them.
 */
export const createTables = (schema: string): string => `
  CREATE TABLE ${schema}.tasks (
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
  CREATE INDEX tasks_by_owner ON ${schema}.tasks (owner, created_at, task_id);
  CREATE INDEX tasks_by_age ON ${schema}.tasks (created_at, task_id);
  CREATE INDEX tasks_open_by_owner ON ${schema}.tasks (owner, created_at, task_id) WHERE slot_held;
  CREATE INDEX tasks_open_by_tool ON ${schema}.tasks (tool, created_at, task_id) WHERE slot_held;
  CREATE INDEX tasks_open_by_adapter ON ${schema}.tasks (adapter_id, created_at, task_id) WHERE slot_held;
  CREATE INDEX tasks_by_start_key ON ${schema}.tasks (start_key_hash);
  CREATE INDEX tasks_by_ref ON ${schema}.tasks (ref_hash) WHERE ref_hash IS NOT NULL;

  CREATE TABLE ${schema}.wakes (
    task_id text COLLATE "C" PRIMARY KEY,
    wake_at double precision NOT NULL,
    claimed_until double precision NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
  CREATE INDEX wakes_by_time ON ${schema}.wakes (wake_at);

  CREATE TABLE ${schema}.unique_keys (
    key text COLLATE "C" PRIMARY KEY,
    task_id text COLLATE "C" NOT NULL,
    until double precision,
    held_for_ms double precision
  );
  CREATE INDEX unique_keys_by_task ON ${schema}.unique_keys (task_id);
  CREATE INDEX unique_keys_by_until ON ${schema}.unique_keys (until) WHERE until IS NOT NULL;

  CREATE SEQUENCE ${schema}.payload_contents;
  CREATE TABLE ${schema}.payloads (
    task_id text COLLATE "C",
    name text COLLATE "C",
    total_bytes bigint NOT NULL,
    content bigint,
    first_bytes bytea NOT NULL,
    PRIMARY KEY (task_id, name)
  ) WITH (autovacuum_vacuum_scale_factor = 0.02);
  CREATE TABLE ${schema}.payload_chunks (
    content bigint,
    position integer,
    bytes bytea NOT NULL,
    PRIMARY KEY (content, position)
  ) WITH (autovacuum_vacuum_scale_factor = 0.02);
  -- Not compressed: whole bytes of a chunk are read without the rest.
  ALTER TABLE ${schema}.payloads ALTER COLUMN first_bytes SET STORAGE EXTERNAL;
  ALTER TABLE ${schema}.payload_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
  CREATE TABLE ${schema}.payload_garbage (content bigint PRIMARY KEY);

  CREATE TABLE ${schema}.cursors (name text COLLATE "C" PRIMARY KEY, cursor text NOT NULL) WITH (fillfactor = 50);
  CREATE UNLOGGED TABLE ${schema}.leases (
    name text COLLATE "C" PRIMARY KEY,
    holder text NOT NULL,
    until double precision NOT NULL
  ) WITH (fillfactor = 50);
`;
