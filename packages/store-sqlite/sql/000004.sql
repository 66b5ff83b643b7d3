-- `tasks` has a rowid and a unique index rather than the ID as its clustering key: records are large for an index tree,
-- where they spill into overflow pages (measured: reads four times slower). Instants are REAL, so that a fraction of a
-- millisecond is no error.
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  task_id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  owner TEXT,
  tool TEXT NOT NULL,
  adapter_id TEXT NOT NULL,
  start_key TEXT NOT NULL,
  ref TEXT,
  created_at REAL NOT NULL,
  wake_at REAL,
  slot_held INTEGER NOT NULL,
  expired INTEGER NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE INDEX tasks_by_owner ON tasks (owner, created_at, task_id);
CREATE INDEX tasks_by_age ON tasks (created_at, task_id);
-- They hold the order of a page too: without it the sweep sorts all open tasks for each page, a fifth of a second for 30,000.
CREATE INDEX tasks_open_by_owner ON tasks (owner, created_at, task_id) WHERE slot_held = 1;
CREATE INDEX tasks_open_by_tool ON tasks (tool, created_at, task_id) WHERE slot_held = 1;
CREATE INDEX tasks_open_by_adapter ON tasks (adapter_id, created_at, task_id) WHERE slot_held = 1;
CREATE INDEX tasks_by_wake ON tasks (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX tasks_by_start_key ON tasks (start_key);
CREATE INDEX tasks_by_ref ON tasks (ref) WHERE ref IS NOT NULL;

-- held_for_ms: how long a key stays taken once its record is gone.
CREATE TABLE unique_keys (
  key TEXT PRIMARY KEY,
  task_id TEXT NOT NULL,
  until REAL,
  held_for_ms REAL
) STRICT, WITHOUT ROWID;
CREATE INDEX unique_keys_by_task ON unique_keys (task_id);
CREATE INDEX unique_keys_by_until ON unique_keys (until) WHERE until IS NOT NULL;

-- AUTOINCREMENT: an ID in payload_garbage must never be given to a new payload.
CREATE TABLE payloads (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL,
  name TEXT NOT NULL,
  total_bytes INTEGER NOT NULL,
  UNIQUE (task, name)
) STRICT;
CREATE TABLE payload_chunks (payload INTEGER NOT NULL, position INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (payload, position)) STRICT;
CREATE TABLE payload_garbage (payload INTEGER PRIMARY KEY) STRICT;

CREATE TABLE stored_values (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE changes (seq INTEGER PRIMARY KEY, task_id TEXT NOT NULL, origin TEXT NOT NULL) STRICT;
