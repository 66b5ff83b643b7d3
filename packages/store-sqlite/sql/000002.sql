-- How long a key stays taken once its record is gone.
ALTER TABLE unique_keys ADD COLUMN held_for_ms REAL;
