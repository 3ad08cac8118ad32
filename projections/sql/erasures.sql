-- like: erasure_facts
CREATE OR REPLACE VIEW erasures AS
SELECT
    e.erasure_id,
    coalesce(subjects.name, e.subject_hash) AS subject,
    coalesce(agents.name, e.agent_hash) AS agent,
    e.erased_hlc >> 16 AS erased_ms,
    e.writer_id,
    e.erased_hlc
FROM erasure_facts AS e
LEFT JOIN names AS subjects ON subjects.hash = e.subject_hash
LEFT JOIN names AS agents ON agents.hash = e.agent_hash;
COMMENT ON VIEW erasures IS 'Whose words were to be erased, and by whom';
COMMENT ON COLUMN erasures.subject IS 'Name of the person where it is still known, else its hash';
COMMENT ON COLUMN erasures.agent IS 'Name of the erasing agent; its hash where the name is not known';
COMMENT ON COLUMN erasures.erased_ms IS 'When, ms since 1970 UTC';
