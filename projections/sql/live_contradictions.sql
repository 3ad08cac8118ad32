-- like: live_contradiction_facts
CREATE OR REPLACE VIEW live_contradictions AS
SELECT
    d.detection_id,
    d.belief_id,
    d.utterance,
    d.judgement_id,
    coalesce(agents.name, d.agent_hash) AS agent,
    d.detected_hlc >> 16 AS detected_ms,
    d.writer_id,
    d.detected_hlc
FROM live_contradiction_facts AS d
LEFT JOIN names AS agents ON agents.hash = d.agent_hash;
COMMENT ON VIEW live_contradictions IS 'What was said while a belief was in use, and contradicts it';
COMMENT ON COLUMN live_contradictions.agent IS 'Name of the detecting agent; its hash where the name is not known';
COMMENT ON COLUMN live_contradictions.detected_ms IS 'When, ms since 1970 UTC';
