-- like: writer_facts
CREATE OR REPLACE VIEW writers AS
SELECT
    w.writer_id,
    coalesce(agents.name, w.agent_hash) AS agent,
    w.agent_hash,
    w.kind,
    w.role,
    w.model,
    w.max_drift_ms,
    w.joined_hlc >> 16 AS joined_ms,
    (SELECT min(c.closed_hlc) FROM writer_closings AS c WHERE c.writer_id = w.writer_id) >> 16 AS closed_ms,
    w.joined_id
FROM (
    SELECT *, row_number() OVER (PARTITION BY writer_id ORDER BY joined_hlc, seq, joined_id) AS place FROM writer_facts
) AS w
LEFT JOIN names AS agents ON agents.hash = w.agent_hash
WHERE w.place = 1;
COMMENT ON VIEW writers IS 'Who writes: one row per stream, that is per open handle of a process';
COMMENT ON COLUMN writers.agent IS 'Name of the agent or person; its hash where the name is not known';
COMMENT ON COLUMN writers.joined_ms IS 'When it joined, ms since 1970 UTC';
COMMENT ON COLUMN writers.closed_ms IS 'When it said that it would write no more; NULL if it did not';
