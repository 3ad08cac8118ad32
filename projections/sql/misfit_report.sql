-- needs: lifecycle_telemetry
-- like: belief_texts belief_facts lifecycle_telemetry
CREATE OR REPLACE VIEW misfit_report AS
SELECT
    l.belief_id,
    l.kind,
    t.kind_misfit_reason,
    l.statement,
    l.speech_act,
    f.node_kind,
    f.extractor,
    l.agent,
    l.model,
    t.obsolete_when,
    t.tags,
    f.malformed,
    l.status,
    l.ended_cause,
    l.age_at_end_ms,
    l.injected,
    l.used,
    l.corrected,
    l.began_ms
FROM lifecycle_telemetry AS l
JOIN belief_facts AS f ON f.belief_id = l.belief_id
LEFT JOIN belief_texts AS t ON t.row_key = f.row_key AND t.belief_id = f.belief_id
WHERE f.kind_misfit OR f.malformed IS NOT NULL;
COMMENT ON VIEW misfit_report IS 'Beliefs of which the extractor said that no kind fits, or whose observe-only fields came malformed, with what became of them by meta.as_of_ms';
