CREATE OR REPLACE VIEW belief_events AS
SELECT belief_id, belief_id AS event_id, 'belief.extracted' AS type, extracted_hlc AS hlc FROM belief_facts
UNION ALL
SELECT entity_id, copy_id, type, copied_hlc FROM copies WHERE type = 'belief.extracted'
UNION ALL
SELECT belief_id, revision_id, type, revised_hlc FROM revision_facts WHERE belief_id IS NOT NULL
UNION ALL
SELECT other_id, revision_id, type, revised_hlc FROM revision_facts WHERE other_id IS NOT NULL
UNION ALL
SELECT belief_id, injection_id, 'memory.injected', injected_hlc FROM injection_cards
UNION ALL
SELECT belief_id, use_id, 'memory.used', used_hlc FROM use_facts
UNION ALL
SELECT belief_id, detection_id, 'memory.live_contradiction_detected', detected_hlc FROM live_contradiction_facts
UNION ALL
SELECT belief_id, prompt_id, 'memory.requires_revalidation_prompt', asked_hlc FROM revalidation_prompts
UNION ALL
SELECT belief_id, derivation_id, 'conclusion.derived', derived_hlc FROM conclusion_facts
UNION ALL
SELECT i.belief_id, c.derivation_id, 'conclusion.derived', c.derived_hlc
FROM conclusion_inputs AS i
JOIN conclusion_facts AS c ON c.row_key = i.row_key AND c.derivation_id = i.derivation_id
UNION ALL
SELECT sides.side_id, sides.event_id, sides.type, sides.hlc
FROM (
    SELECT left_id AS side_id, contradiction_id AS event_id, 'contradiction.raised' AS type, raised_hlc AS hlc
    FROM contradiction_facts
    UNION ALL
    SELECT right_id, contradiction_id, 'contradiction.raised', raised_hlc FROM contradiction_facts
    UNION ALL
    SELECT c.left_id, r.resolution_id, 'contradiction.resolved', r.resolved_hlc
    FROM contradiction_resolutions AS r
    JOIN contradiction_facts AS c ON c.contradiction_id = r.contradiction_id
    UNION ALL
    SELECT c.right_id, r.resolution_id, 'contradiction.resolved', r.resolved_hlc
    FROM contradiction_resolutions AS r
    JOIN contradiction_facts AS c ON c.contradiction_id = r.contradiction_id
    UNION ALL
    SELECT about_id, judgement_id, 'judgement.recorded', judged_hlc FROM judgement_facts
    UNION ALL
    SELECT v.other_id, v.judgement_id, 'judgement.recorded', j.judged_hlc
    FROM verdicts AS v
    JOIN judgement_facts AS j ON j.row_key = v.row_key AND j.judgement_id = v.judgement_id
    UNION ALL
    SELECT answer_id, reply_id, 'question.answered', answered_hlc FROM question_answers WHERE answer_id IS NOT NULL
) AS sides
WHERE sides.side_id IN (SELECT belief_id FROM belief_facts);
COMMENT ON VIEW belief_events IS 'Every event that names a belief, whether it had an effect or not; twice where it names it twice';
COMMENT ON COLUMN belief_events.belief_id IS 'The belief';
COMMENT ON COLUMN belief_events.event_id IS 'The event; its extraction is the first';
COMMENT ON COLUMN belief_events.type IS 'Type of the event';
COMMENT ON COLUMN belief_events.hlc IS 'Stamp of the event';
