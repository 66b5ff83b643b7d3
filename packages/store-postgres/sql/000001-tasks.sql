-- The functions that write tasks. Each verb is one statement and so one transaction, which no client can leave open, and each
-- statement inside sees what was committed before it, also after waiting for a lock. A released function is never replaced: a
-- later version adds another, for older servers go on calling the first.
--
-- The server may carry out a statement long after its caller has given up: a kernel goes on sending when the way is open again.
-- Only a late create would do harm, so a create has a deadline. A late revision finds another revision, a late removal removes
-- what its caller wanted to remove, and a late lease lapses.
--
-- Loops over a few rows, each found by its key, stand where a join might one day be planned as a walk through a table.

CREATE FUNCTION "$schema".now_ms() RETURNS double precision LANGUAGE sql
  AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision $$;

-- A part of every read: a standby may be behind, and would take what it has not got yet for something that is not there.
CREATE FUNCTION "$schema".on_primary() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF pg_is_in_recovery() THEN
    RAISE read_only_sql_transaction USING MESSAGE = 'this server is a standby';
  END IF;
  RETURN true;
END $$;

-- Until the end of the transaction: no session is left changed, which another client of a pooler might get.
CREATE FUNCTION "$schema".begin_write(p_durable boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', '4s', true);
  IF NOT p_durable THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  ELSIF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $$;

-- Moves to the next wake-up, and takes back a claim.
CREATE FUNCTION "$schema".set_wake(p_task_id text, p_wake_at double precision) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF p_wake_at IS NULL THEN
    DELETE FROM "$schema".wakes WHERE task_id = p_task_id;
  ELSE
    INSERT INTO "$schema".wakes AS kept (task_id, wake_at) VALUES (p_task_id, p_wake_at)
      ON CONFLICT (task_id) DO UPDATE SET wake_at = excluded.wake_at, claimed_until = 0
      WHERE kept.wake_at <> excluded.wake_at OR kept.claimed_until <> 0;
  END IF;
END $$;

CREATE FUNCTION "$schema".create_task(
  p_locks bigint[], p_task_id text, p_owner text, p_tool text, p_adapter_id text, p_start_key_hash bigint,
  p_ref_hash bigint, p_created_at double precision, p_slot_held boolean, p_expired boolean,
  p_wake_at double precision, p_record text, p_keys text[], p_untils double precision[], p_holds double precision[],
  p_max_owner double precision, p_max_tool double precision,
  p_names text[], p_sizes integer[], p_bytes bytea, p_deadline double precision,
  OUT outcome text, OUT holder text, OUT open_count bigint, OUT open_ids text[]
) LANGUAGE plpgsql AS $$
DECLARE
  v_lock bigint;
  v_key text;
  v_now double precision;
BEGIN
  PERFORM "$schema".begin_write(true);
  -- In the same order for everybody, so that none wait for each other.
  FOREACH v_lock IN ARRAY p_locks LOOP
    PERFORM pg_advisory_xact_lock(v_lock);
  END LOOP;
  v_now := "$schema".now_ms();
  -- One statement reads both, or a removal in between would hide the task from the first and the mark of its removed ID from the
  -- second. Where neither exists, nobody can create either as long as we hold the lock.
  SELECT p_task_id INTO holder
    WHERE EXISTS (SELECT 1 FROM "$schema".tasks t WHERE t.task_id = p_task_id)
      OR EXISTS (SELECT 1 FROM "$schema".unique_keys k WHERE k.key = 'removed:' || p_task_id AND k.until > v_now);
  IF FOUND THEN
    outcome := 'conflict';
    RETURN;
  END IF;
  -- Nobody would know of the task: its caller was told that there is none.
  IF v_now > p_deadline THEN
    outcome := 'late';
    RETURN;
  END IF;

  FOREACH v_key IN ARRAY p_keys LOOP
    EXIT WHEN holder IS NOT NULL;
    SELECT k.task_id INTO holder FROM "$schema".unique_keys k
      WHERE k.key = v_key AND (k.until IS NULL OR k.until > v_now);
  END LOOP;
  IF holder IS NOT NULL THEN
    outcome := 'conflict';
    RETURN;
  END IF;

  IF p_slot_held AND p_max_owner IS NOT NULL THEN
    IF p_owner IS NULL THEN
      SELECT count(*) INTO open_count FROM "$schema".tasks t WHERE t.slot_held AND t.owner IS NULL;
    ELSE
      SELECT count(*) INTO open_count FROM "$schema".tasks t WHERE t.slot_held AND t.owner = p_owner;
    END IF;
    IF open_count >= p_max_owner THEN
      outcome := 'owner';
      SELECT array_agg(own.task_id) INTO open_ids FROM (
        SELECT t.task_id FROM "$schema".tasks t WHERE t.slot_held AND t.owner = p_owner AND NOT t.expired
          ORDER BY t.created_at DESC, t.task_id DESC LIMIT 100) own;
      RETURN;
    END IF;
  END IF;
  IF p_slot_held AND p_max_tool IS NOT NULL THEN
    SELECT count(*) INTO open_count FROM "$schema".tasks t WHERE t.slot_held AND t.tool = p_tool;
    IF open_count >= p_max_tool THEN
      outcome := 'tool';
      SELECT array_agg(own.task_id) INTO open_ids FROM (
        SELECT t.task_id FROM "$schema".tasks t
          WHERE t.slot_held AND t.owner = p_owner AND t.tool = p_tool AND NOT t.expired
          ORDER BY t.created_at DESC, t.task_id DESC LIMIT 100) own;
      RETURN;
    END IF;
  END IF;

  INSERT INTO "$schema".tasks (task_id, revision, owner, tool, adapter_id, start_key_hash, ref_hash, created_at,
      slot_held, expired, record)
    VALUES (p_task_id, 1, p_owner, p_tool, p_adapter_id, p_start_key_hash, p_ref_hash, p_created_at,
      p_slot_held, p_expired, p_record);
  -- What is there has lapsed. By key, as remove_task does.
  INSERT INTO "$schema".unique_keys (key, task_id, until, held_for_ms)
    SELECT taken.key, p_task_id, taken.until, taken.held_for_ms
      FROM unnest(p_keys, p_untils, p_holds) AS taken (key, until, held_for_ms) ORDER BY taken.key COLLATE "C"
    ON CONFLICT (key) DO UPDATE
      SET task_id = excluded.task_id, until = excluded.until, held_for_ms = excluded.held_for_ms;
  IF p_wake_at IS NOT NULL THEN
    PERFORM "$schema".set_wake(p_task_id, p_wake_at);
  END IF;
  PERFORM "$schema".write_payloads(p_task_id, p_names, p_sizes, p_bytes);
  outcome := 'done';
END $$;

CREATE FUNCTION "$schema".revise_task(
  p_task_id text, p_expected double precision, p_owner text, p_tool text, p_adapter_id text, p_start_key_hash bigint,
  p_ref_hash bigint, p_created_at double precision, p_slot_held boolean, p_expired boolean,
  p_wake_at double precision, p_record text, p_dropped text[], p_drops_all boolean,
  p_names text[], p_sizes integer[], p_bytes bytea, p_durable boolean,
  OUT outcome text, OUT found_revision integer, OUT leaves_garbage boolean
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "$schema".begin_write(p_durable);
  leaves_garbage := false;
  UPDATE "$schema".tasks t
    SET revision = p_expected + 1, owner = p_owner, tool = p_tool, adapter_id = p_adapter_id,
      start_key_hash = p_start_key_hash, ref_hash = p_ref_hash, created_at = p_created_at,
      slot_held = p_slot_held, expired = p_expired, record = p_record
    WHERE t.task_id = p_task_id AND t.revision = p_expected;
  IF NOT FOUND THEN
    SELECT t.revision INTO found_revision FROM "$schema".tasks t WHERE t.task_id = p_task_id;
    outcome := CASE WHEN FOUND THEN 'conflict' ELSE 'not_found' END;
    RETURN;
  END IF;
  PERFORM "$schema".set_wake(p_task_id, p_wake_at);
  IF p_drops_all OR cardinality(p_dropped) > 0 THEN
    leaves_garbage := "$schema".drop_payloads(p_task_id, CASE WHEN p_drops_all THEN NULL ELSE p_dropped END);
  END IF;
  leaves_garbage := "$schema".write_payloads(p_task_id, p_names, p_sizes, p_bytes) OR leaves_garbage;
  outcome := 'done';
END $$;

CREATE FUNCTION "$schema".remove_task(
  p_task_id text, p_taken_for_ms double precision, OUT was_there boolean, OUT leaves_garbage boolean
) LANGUAGE plpgsql AS $$
DECLARE
  v_now double precision;
BEGIN
  PERFORM "$schema".begin_write(true);
  leaves_garbage := false;
  DELETE FROM "$schema".tasks t WHERE t.task_id = p_task_id;
  was_there := FOUND;
  IF NOT was_there THEN
    RETURN;
  END IF;
  DELETE FROM "$schema".wakes w WHERE w.task_id = p_task_id;
  leaves_garbage := "$schema".drop_payloads(p_task_id, NULL);
  -- By key, as create_task takes them.
  PERFORM 1 FROM "$schema".unique_keys k WHERE k.task_id = p_task_id ORDER BY k.key FOR UPDATE;
  IF FOUND THEN
    v_now := "$schema".now_ms();
    -- Once: from now on it is a key like any other that lapses.
    UPDATE "$schema".unique_keys k
      SET until = greatest(coalesce(k.until, 0), v_now + k.held_for_ms), held_for_ms = NULL
      WHERE k.task_id = p_task_id AND k.held_for_ms IS NOT NULL AND (k.until IS NULL OR k.until > v_now);
    DELETE FROM "$schema".unique_keys k WHERE k.task_id = p_task_id AND (k.until IS NULL OR k.until <= v_now);
  END IF;
  INSERT INTO "$schema".unique_keys (key, task_id, until)
    VALUES ('removed:' || p_task_id, p_task_id, "$schema".now_ms() + p_taken_for_ms)
    ON CONFLICT (key) DO UPDATE SET task_id = excluded.task_id, until = excluded.until, held_for_ms = NULL;
END $$;

-- Always planned for the limit at hand: for an unknown one the planner might sort all that is due.
CREATE FUNCTION "$schema".claim_due(p_limit bigint, p_claim_ms double precision) RETURNS SETOF text
  LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  v_task_id text;
  v_now double precision := "$schema".now_ms();
BEGIN
  PERFORM "$schema".begin_write(false);
  FOR v_task_id IN
    SELECT w.task_id FROM "$schema".wakes w WHERE w.wake_at <= v_now AND w.claimed_until <= v_now
      ORDER BY w.wake_at LIMIT p_limit FOR UPDATE SKIP LOCKED
  LOOP
    UPDATE "$schema".wakes w SET claimed_until = v_now + p_claim_ms WHERE w.task_id = v_task_id;
    RETURN QUERY SELECT t.record FROM "$schema".tasks t WHERE t.task_id = v_task_id;
  END LOOP;
END $$;

CREATE FUNCTION "$schema".write_value(p_name text, p_value text, p_previous text, p_durable boolean) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM "$schema".begin_write(p_durable);
  IF p_previous IS NULL THEN
    INSERT INTO "$schema".stored_values (name, value) VALUES (p_name, p_value) ON CONFLICT (name) DO NOTHING;
  ELSE
    UPDATE "$schema".stored_values v SET value = p_value WHERE v.name = p_name AND v.value = p_previous;
  END IF;
  RETURN FOUND;
END $$;
