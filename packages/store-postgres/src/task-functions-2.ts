import { removedMark } from "./to-key.ts";

/**
 * What keeps a removed task's ID taken for a while, in schema version 2. Its mark is a row of `unique_keys`, which no caller's key
 * can be (see `toKey`) and which is swept like any other key once its time is up. `schema` is a quoted identifier.
 *
 * Version 1 goes on beside it: what that one creates looks at no mark, and what it removes leaves none.
 */
export const createRemovedIds = (schema: string): string => `
  -- Each task adds a row and takes it away.
  ALTER TABLE ${schema}.unique_keys
    SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

  CREATE FUNCTION ${schema}.create_task_2(
    p_locks bigint[], p_task_id text, p_owner text, p_tool text, p_adapter_id text, p_start_key_hash bigint,
    p_ref_hash bigint, p_created_at double precision, p_slot_held boolean, p_expired boolean,
    p_wake_at double precision, p_record text, p_keys text[], p_untils double precision[], p_holds double precision[],
    p_max_owner double precision, p_max_tool double precision,
    p_names text[], p_sizes integer[], p_bytes bytea, p_deadline double precision,
    OUT outcome text, OUT holder text, OUT open_count bigint, OUT open_ids text[]
  ) LANGUAGE plpgsql AS $$
  DECLARE
    v_lock bigint;
  BEGIN
    PERFORM ${schema}.begin_write(true);
    FOREACH v_lock IN ARRAY p_locks LOOP
      PERFORM pg_advisory_xact_lock(v_lock);
    END LOOP;
    -- In one look, or a removal in between would hide the task from the one and its mark from the other. Where neither is there,
    -- none can come as long as we hold the lock.
    SELECT p_task_id INTO holder
      WHERE EXISTS (SELECT 1 FROM ${schema}.tasks t WHERE t.task_id = p_task_id)
        OR EXISTS (SELECT 1 FROM ${schema}.unique_keys k
          WHERE k.key = '${removedMark}' || p_task_id AND k.until > ${schema}.now_ms());
    IF FOUND THEN
      outcome := 'conflict';
      RETURN;
    END IF;
    SELECT c.outcome, c.holder, c.open_count, c.open_ids INTO outcome, holder, open_count, open_ids
      FROM ${schema}.create_task('{}', p_task_id, p_owner, p_tool, p_adapter_id, p_start_key_hash, p_ref_hash, p_created_at,
        p_slot_held, p_expired, p_wake_at, p_record, p_keys, p_untils, p_holds, p_max_owner, p_max_tool,
        p_names, p_sizes, p_bytes, p_deadline) c;
  END $$;

  CREATE FUNCTION ${schema}.remove_task_2(
    p_task_id text, p_taken_for_ms double precision, OUT was_there boolean, OUT leaves_garbage boolean
  ) LANGUAGE plpgsql AS $$
  BEGIN
    SELECT r.was_there, r.leaves_garbage INTO was_there, leaves_garbage FROM ${schema}.remove_task(p_task_id) r;
    IF was_there THEN
      INSERT INTO ${schema}.unique_keys (key, task_id, until)
        VALUES ('${removedMark}' || p_task_id, p_task_id, ${schema}.now_ms() + p_taken_for_ms)
        ON CONFLICT (key) DO UPDATE SET task_id = excluded.task_id, until = excluded.until, held_for_ms = NULL;
    END IF;
  END $$;
`;
