-- like: judgement_facts verdicts
CREATE OR REPLACE VIEW judgements AS
SELECT
    j.judgement_id,
    j.about_id,
    v.other_id,
    v.relation,
    v.confidence,
    j.judge,
    j.judge_kind,
    v.lexical_rank,
    v.vector_rank,
    v.position,
    coalesce(agents.name, j.agent_hash) AS agent,
    j.judged_hlc >> 16 AS judged_ms,
    j.writer_id,
    j.judged_hlc
FROM judgement_facts AS j
JOIN verdicts AS v ON v.row_key = j.row_key AND v.judgement_id = j.judgement_id
LEFT JOIN names AS agents ON agents.hash = j.agent_hash;
COMMENT ON VIEW judgements IS 'What judges said of pairs: one row per verdict, every "no" included';
COMMENT ON COLUMN judgements.agent IS 'Name of the recording agent; its hash where the name is not known';
COMMENT ON COLUMN judgements.judged_ms IS 'When, ms since 1970 UTC';
