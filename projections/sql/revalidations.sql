-- like: revalidation_answers revalidation_prompts
CREATE OR REPLACE VIEW revalidations AS
SELECT
    p.prompt_id,
    a.answer_id,
    coalesce(p.belief_id, a.belief_id) AS belief_id,
    p.cause,
    a.outcome,
    p.injection_id,
    coalesce(askers.name, p.agent_hash) AS asked_by,
    coalesce(answerers.name, a.agent_hash) AS answered_by,
    p.asked_hlc >> 16 AS asked_ms,
    a.answered_hlc >> 16 AS answered_ms
FROM revalidation_prompts AS p
FULL JOIN revalidation_answers AS a ON a.prompt_id = p.prompt_id
LEFT JOIN names AS askers ON askers.hash = p.agent_hash
LEFT JOIN names AS answerers ON answerers.hash = a.agent_hash;
COMMENT ON VIEW revalidations IS 'Prompts to confirm a belief, with their answers; answers without a prompt as well';
COMMENT ON COLUMN revalidations.asked_by IS 'Name of the asking agent; NULL without a prompt';
COMMENT ON COLUMN revalidations.answered_by IS 'Name of the answering agent; NULL without an answer';
COMMENT ON COLUMN revalidations.asked_ms IS 'When it was asked, ms since 1970 UTC';
COMMENT ON COLUMN revalidations.answered_ms IS 'When it was answered, ms since 1970 UTC';
