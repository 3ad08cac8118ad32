-- needs: as_of_hlc
-- like: contradiction_facts
CREATE OR REPLACE VIEW contradictions AS
SELECT
    c.contradiction_id,
    c.left_id,
    c.right_id,
    c.judgement_id,
    coalesce(agents.name, c.agent_hash) AS agent,
    c.raised_hlc >> 16 AS raised_ms,
    r.outcome,
    r.resolution_id,
    coalesce(resolvers.name, r.agent_hash) AS resolved_by,
    r.resolved_hlc >> 16 AS resolved_ms,
    c.writer_id,
    c.raised_hlc
FROM contradiction_facts AS c
LEFT JOIN (
    SELECT
        *,
        row_number() OVER (PARTITION BY contradiction_id ORDER BY resolved_hlc DESC, writer_id DESC, resolution_id DESC)
            AS place
    FROM contradiction_resolutions
    WHERE resolved_hlc <= as_of_hlc((SELECT as_of_ms FROM meta))
) AS r ON r.contradiction_id = c.contradiction_id AND r.place = 1
LEFT JOIN names AS agents ON agents.hash = c.agent_hash
LEFT JOIN names AS resolvers ON resolvers.hash = r.agent_hash
WHERE c.raised_hlc <= as_of_hlc((SELECT as_of_ms FROM meta));
COMMENT ON VIEW contradictions IS 'Contradictions raised by meta.as_of_ms, with the last resolution by then';
COMMENT ON COLUMN contradictions.agent IS 'Name of the agent that raised it; its hash where the name is not known';
COMMENT ON COLUMN contradictions.raised_ms IS 'When it was raised, ms since 1970 UTC';
COMMENT ON COLUMN contradictions.outcome IS 'What holds: left, right, both_hold or neither; NULL while unresolved';
COMMENT ON COLUMN contradictions.resolution_id IS 'The contradiction.resolved event';
COMMENT ON COLUMN contradictions.resolved_by IS 'Name of the agent that resolved it';
COMMENT ON COLUMN contradictions.resolved_ms IS 'When it was resolved, ms since 1970 UTC';
