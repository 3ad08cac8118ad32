-- like: revision_facts revision_texts
CREATE OR REPLACE VIEW revisions AS
SELECT
    r.revision_id,
    r.type,
    r.belief_id,
    r.other_id,
    r.how,
    r.changes,
    w.reason,
    coalesce(agents.name, r.agent_hash) AS agent,
    coalesce(sessions.name, r.session_hash) AS session,
    coalesce(conditions.name, r.condition_key_hash) AS condition_key,
    r.revised_hlc >> 16 AS revised_ms,
    r.writer_id,
    r.seq,
    r.revised_hlc,
    r.recorded_lag_ms
FROM revision_facts AS r
LEFT JOIN revision_texts AS w ON w.row_key = r.row_key AND w.revision_id = r.revision_id
LEFT JOIN names AS agents ON agents.hash = r.agent_hash
LEFT JOIN names AS sessions ON sessions.hash = r.session_hash
LEFT JOIN names AS conditions ON conditions.hash = r.condition_key_hash;
COMMENT ON VIEW revisions IS 'Every event that revises a belief, whether it had an effect or not';
COMMENT ON COLUMN revisions.agent IS 'Name of the revising agent; its hash where the name is not known';
COMMENT ON COLUMN revisions.session IS 'Session: name, or hash where the name is not known';
COMMENT ON COLUMN revisions.condition_key IS 'Condition that was met, or is set: name, or hash where the name is not known';
COMMENT ON COLUMN revisions.revised_ms IS 'When, ms since 1970 UTC';
