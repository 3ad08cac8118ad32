-- like: policy_definitions
CREATE OR REPLACE VIEW policies AS
SELECT
    p.policy,
    p.base,
    p.half_life_days,
    p.place = 1 AS counts,
    coalesce(agents.name, p.agent_hash) AS agent,
    p.defined_hlc >> 16 AS defined_ms,
    p.definition_id,
    p.writer_id,
    p.defined_hlc
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY policy ORDER BY defined_hlc, writer_id, seq, definition_id) AS place
    FROM policy_definitions
) AS p
LEFT JOIN names AS agents ON agents.hash = p.agent_hash;
COMMENT ON VIEW policies IS 'Lifecycle policies that were defined in the log; built-in ones are in the docs';
COMMENT ON COLUMN policies.counts IS 'Whether it is the first definition of its name and version: the others have no effect';
COMMENT ON COLUMN policies.agent IS 'Name of the defining agent; its hash where the name is not known';
COMMENT ON COLUMN policies.defined_ms IS 'When, ms since 1970 UTC';
