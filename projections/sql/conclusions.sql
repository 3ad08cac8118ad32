-- needs: beliefs
-- like: conclusion_facts conclusion_inputs
CREATE OR REPLACE VIEW conclusions AS
SELECT
    c.derivation_id,
    c.belief_id,
    i.belief_id AS input_id,
    i.position,
    i.role,
    i.applicability,
    b.status AS input_status,
    coalesce(agents.name, c.agent_hash) AS agent,
    c.derived_hlc >> 16 AS derived_ms,
    c.writer_id,
    c.derived_hlc
FROM conclusion_facts AS c
JOIN conclusion_inputs AS i ON i.row_key = c.row_key AND i.derivation_id = c.derivation_id
LEFT JOIN beliefs AS b ON b.belief_id = i.belief_id
LEFT JOIN names AS agents ON agents.hash = c.agent_hash;
COMMENT ON VIEW conclusions IS 'What beliefs were concluded from: one row per input';
COMMENT ON COLUMN conclusions.input_id IS 'The belief that it rests on';
COMMENT ON COLUMN conclusions.input_status IS 'Status of the input at meta.as_of_ms; NULL where it is not known';
COMMENT ON COLUMN conclusions.agent IS 'Name of the concluding agent; its hash where the name is not known';
COMMENT ON COLUMN conclusions.derived_ms IS 'When, ms since 1970 UTC';
