-- The functions that write payloads and clear away what is left over of them. The caller holds the lock of the task's row, so
-- that nobody else writes its payloads. A chunk has 65536 bytes, also for the code that reads chunks (payload-reads.ts).

-- Without names: all of them. True when chunks are left to sweep.
CREATE FUNCTION "$schema".drop_payloads(p_task_id text, p_names text[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_gone record;
  v_leaves_garbage boolean := false;
BEGIN
  FOR v_gone IN
    DELETE FROM "$schema".payloads p WHERE p.task_id = p_task_id AND (p_names IS NULL OR p.name = ANY (p_names))
      RETURNING p.content, p.total_bytes
  LOOP
    CONTINUE WHEN v_gone.content IS NULL;
    -- Up to 16 chunks go at once; those of a larger payload are left to `sweep`.
    IF v_gone.total_bytes <= 16 * 65536 THEN
      DELETE FROM "$schema".payload_chunks c WHERE c.content = v_gone.content;
    ELSE
      INSERT INTO "$schema".payload_garbage (content) VALUES (v_gone.content);
      v_leaves_garbage := true;
    END IF;
  END LOOP;
  RETURN v_leaves_garbage;
END $$;

-- The payloads stand one behind the other in p_bytes. True when chunks are left to sweep.
CREATE FUNCTION "$schema".write_payloads(p_task_id text, p_names text[], p_sizes integer[], p_bytes bytea)
  RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  v_chunk CONSTANT integer := 65536;
  v_at integer := 0;
  v_size integer;
  v_content bigint;
  v_leaves_garbage boolean := false;
BEGIN
  FOR v_index IN 1 .. cardinality(p_names) LOOP
    v_size := p_sizes[v_index];
    v_leaves_garbage := "$schema".drop_payloads(p_task_id, ARRAY[p_names[v_index]]) OR v_leaves_garbage;
    v_content := CASE WHEN v_size > v_chunk THEN nextval('"$schema".payload_contents') END;
    INSERT INTO "$schema".payloads (task_id, name, total_bytes, content, first_bytes)
      VALUES (p_task_id, p_names[v_index], v_size, v_content,
        substring(p_bytes FROM v_at + 1 FOR least(v_size, v_chunk)));
    FOR v_position IN 1 .. (v_size - 1) / v_chunk LOOP
      INSERT INTO "$schema".payload_chunks (content, position, bytes)
        VALUES (v_content, v_position, substring(p_bytes FROM v_at + v_position * v_chunk + 1
          FOR least(v_chunk, v_size - v_position * v_chunk)));
    END LOOP;
    v_at := v_at + v_size;
  END LOOP;
  RETURN v_leaves_garbage;
END $$;

CREATE FUNCTION "$schema".put_payload(
  p_task_id text, p_name text, p_offset bigint, p_bytes bytea,
  OUT outcome text, OUT total bigint, OUT leaves_garbage boolean
) LANGUAGE plpgsql AS $$
DECLARE
  v_chunk CONSTANT integer := 65536;
  v_content bigint;
  v_end bigint := p_offset + octet_length(p_bytes);
  v_from bigint;
  v_until bigint;
  v_start bigint;
  v_old bytea;
  v_part bytea;
BEGIN
  PERFORM "$schema".begin_write(false);
  leaves_garbage := false;
  PERFORM 1 FROM "$schema".tasks t WHERE t.task_id = p_task_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    outcome := 'not_found';
    RETURN;
  END IF;
  outcome := 'done';
  IF p_offset = 0 THEN
    leaves_garbage := "$schema".write_payloads(p_task_id, ARRAY[p_name], ARRAY[octet_length(p_bytes)], p_bytes);
    RETURN;
  END IF;
  SELECT p.content, p.total_bytes INTO v_content, total
    FROM "$schema".payloads p WHERE p.task_id = p_task_id AND p.name = p_name;
  total := coalesce(total, 0);
  IF p_offset > total THEN
    outcome := 'gap';
    RETURN;
  END IF;
  IF v_end > v_chunk THEN
    v_content := coalesce(v_content, nextval('"$schema".payload_contents'));
  END IF;
  FOR v_position IN (p_offset / v_chunk)::integer .. ((v_end - 1) / v_chunk)::integer LOOP
    v_start := v_position::bigint * v_chunk;
    v_from := greatest(p_offset, v_start);
    v_until := least(v_end, v_start + v_chunk);
    v_part := substring(p_bytes FROM (v_from - p_offset + 1)::integer FOR (v_until - v_from)::integer);
    IF octet_length(v_part) < v_chunk THEN
      IF v_position = 0 THEN
        SELECT p.first_bytes INTO v_old FROM "$schema".payloads p WHERE p.task_id = p_task_id AND p.name = p_name;
      ELSE
        SELECT c.bytes INTO v_old FROM "$schema".payload_chunks c
          WHERE c.content = v_content AND c.position = v_position;
      END IF;
      v_old := coalesce(v_old, ''::bytea);
      v_part := substring(v_old FROM 1 FOR (v_from - v_start)::integer) || v_part
        || substring(v_old FROM (v_until - v_start + 1)::integer);
    END IF;
    IF v_position = 0 THEN
      UPDATE "$schema".payloads p SET first_bytes = v_part WHERE p.task_id = p_task_id AND p.name = p_name;
    ELSE
      INSERT INTO "$schema".payload_chunks (content, position, bytes) VALUES (v_content, v_position, v_part)
        ON CONFLICT (content, position) DO UPDATE SET bytes = excluded.bytes;
    END IF;
  END LOOP;
  UPDATE "$schema".payloads p SET total_bytes = greatest(total, v_end), content = v_content
    WHERE p.task_id = p_task_id AND p.name = p_name AND (p.total_bytes < v_end OR p.content IS DISTINCT FROM v_content);
END $$;

-- Deletes some of what has lapsed or was dropped, passing over what others hold. True when there may be more.
CREATE FUNCTION "$schema".sweep(p_limit integer) RETURNS boolean
  LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  v_now double precision := "$schema".now_ms();
  v_name text;
  v_content bigint;
  v_count integer := 0;
  v_more boolean := false;
BEGIN
  PERFORM "$schema".begin_write(false);
  FOR v_name IN
    SELECT k.key FROM "$schema".unique_keys k WHERE k.until <= v_now LIMIT p_limit FOR UPDATE SKIP LOCKED
  LOOP
    DELETE FROM "$schema".unique_keys k WHERE k.key = v_name;
    v_count := v_count + 1;
  END LOOP;
  v_more := v_count = p_limit;
  v_count := 0;
  FOR v_name IN SELECT l.name FROM "$schema".leases l WHERE l.until <= v_now LIMIT p_limit FOR UPDATE SKIP LOCKED LOOP
    DELETE FROM "$schema".leases l WHERE l.name = v_name;
    v_count := v_count + 1;
  END LOOP;
  v_more := v_more OR v_count = p_limit;
  SELECT g.content INTO v_content FROM "$schema".payload_garbage g LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    -- At most 64 chunks, which are 4 MiB.
    DELETE FROM "$schema".payload_chunks c WHERE c.content = v_content AND c.position IN (
      SELECT old.position FROM "$schema".payload_chunks old WHERE old.content = v_content
        ORDER BY old.position LIMIT 64);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count < 64 THEN
      DELETE FROM "$schema".payload_garbage g WHERE g.content = v_content;
    END IF;
    v_more := true;
  END IF;
  RETURN v_more;
END $$;
