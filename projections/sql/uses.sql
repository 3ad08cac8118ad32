-- like: use_facts
CREATE OR REPLACE VIEW uses AS
SELECT
    u.use_id,
    u.injection_id,
    u.belief_id,
    u.outcome,
    coalesce(agents.name, u.agent_hash) AS agent,
    u.used_hlc >> 16 AS used_ms,
    u.writer_id,
    u.used_hlc
FROM use_facts AS u
LEFT JOIN names AS agents ON agents.hash = u.agent_hash;
COMMENT ON VIEW uses IS 'What became of beliefs that were shown';
COMMENT ON COLUMN uses.agent IS 'Name of the reporting agent; its hash where the name is not known';
COMMENT ON COLUMN uses.used_ms IS 'When, ms since 1970 UTC';
