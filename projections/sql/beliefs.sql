-- needs: as_of_hlc
CREATE OR REPLACE MACRO beliefs_at(ts) AS TABLE
SELECT
    f.belief_id,
    w.statement,
    i.status,
    coalesce(c.kind, f.kind) AS kind,
    coalesce(c.speech_act, f.speech_act) AS speech_act,
    coalesce(agents.name, f.agent_hash) AS agent,
    f.extracted_hlc >> 16 AS began_ms,
    i.ended_hlc >> 16 AS ended_ms,
    CASE WHEN i.ended_hlc IS NOT NULL THEN i.status END AS ended_cause,
    i.cause_id AS ended_by,
    i.stale,
    i.contested,
    i.forked,
    w.topic,
    w.subject,
    w.predicate,
    coalesce(c.confidence, f.confidence) AS confidence,
    coalesce(c.speech_act_confidence, f.speech_act_confidence) AS speech_act_confidence,
    coalesce(c.node_kind, f.node_kind) AS node_kind,
    coalesce(c.voice, f.voice) AS voice,
    coalesce(c.assertion_type, f.assertion_type) AS assertion_type,
    coalesce(c.assertion_class, f.assertion_class) AS assertion_class,
    coalesce(c.policy, f.policy) AS policy,
    coalesce(conditions.name, c.condition_key_hash, f.condition_key_hash) AS condition_key,
    coalesce(sessions.name, f.session_hash) AS session,
    f.extractor,
    f.evidence_count,
    w.obsolete_when,
    f.kind_misfit,
    w.kind_misfit_reason,
    w.supersedes_note,
    w.tags,
    f.writer_id,
    f.extracted_hlc,
    i.since_hlc,
    i.until_hlc
FROM belief_intervals AS i
JOIN belief_facts AS f ON f.row_key = i.row_key AND f.belief_id = i.belief_id
LEFT JOIN belief_texts AS w ON w.row_key = f.row_key AND w.belief_id = f.belief_id
LEFT JOIN (
    SELECT *, row_number() OVER (PARTITION BY belief_id ORDER BY number DESC) AS place
    FROM belief_classes
    WHERE since_hlc <= as_of_hlc(ts)
) AS c ON c.row_key = f.row_key AND c.belief_id = f.belief_id AND c.place = 1
LEFT JOIN names AS agents ON agents.hash = f.agent_hash
LEFT JOIN names AS sessions ON sessions.hash = f.session_hash
LEFT JOIN names AS conditions ON conditions.hash = coalesce(c.condition_key_hash, f.condition_key_hash)
WHERE i.since_hlc <= as_of_hlc(ts) AND as_of_hlc(ts) < i.until_hlc;
COMMENT ON MACRO TABLE beliefs_at IS 'The view beliefs as it was at another moment';

CREATE OR REPLACE VIEW beliefs AS SELECT * FROM beliefs_at((SELECT as_of_ms FROM meta));
COMMENT ON VIEW beliefs IS 'Every belief that had been extracted by meta.as_of_ms, with its status then';
COMMENT ON COLUMN beliefs.belief_id IS 'Id of the belief: of its belief.extracted event';
COMMENT ON COLUMN beliefs.statement IS 'What is believed; NULL where the words were erased';
COMMENT ON COLUMN beliefs.status IS 'candidate, active, or the cause that ended it';
COMMENT ON COLUMN beliefs.kind IS 'Kind of belief, as it was last classified by then';
COMMENT ON COLUMN beliefs.speech_act IS 'How it was meant, as it was last classified by then';
COMMENT ON COLUMN beliefs.agent IS 'Name of the extracting agent; its hash where the name is not known';
COMMENT ON COLUMN beliefs.began_ms IS 'When it was extracted, ms since 1970 UTC';
COMMENT ON COLUMN beliefs.ended_ms IS 'When the ending in force ended it, ms since 1970 UTC; NULL while it lives';
COMMENT ON COLUMN beliefs.ended_cause IS 'superseded, duplicate, retracted, contradicted, obsolete, expired or erased; NULL while it lives';
COMMENT ON COLUMN beliefs.ended_by IS 'Event that ended it; NULL while it lives and where time ended it';
COMMENT ON COLUMN beliefs.stale IS 'Not affirmed for a half-life';
COMMENT ON COLUMN beliefs.contested IS 'An open contradiction or a waiting replacement stands against it';
COMMENT ON COLUMN beliefs.forked IS 'Concurrent revisions give it different fates';
COMMENT ON COLUMN beliefs.topic IS 'What it is about';
COMMENT ON COLUMN beliefs.subject IS 'Subject of the statement';
COMMENT ON COLUMN beliefs.predicate IS 'What is said of the subject';
COMMENT ON COLUMN beliefs.confidence IS 'Confidence of the extraction, per mille';
COMMENT ON COLUMN beliefs.speech_act_confidence IS 'Confidence in the speech act, per mille';
COMMENT ON COLUMN beliefs.node_kind IS 'belief, conclusion, domain_concept, goal or work_product; NULL = belief';
COMMENT ON COLUMN beliefs.voice IS 'self, authority, other, agent or system';
COMMENT ON COLUMN beliefs.assertion_type IS 'How the words became the statement';
COMMENT ON COLUMN beliefs.assertion_class IS 'durable_fact may enter as active at once';
COMMENT ON COLUMN beliefs.policy IS 'Lifecycle policy, where one was named';
COMMENT ON COLUMN beliefs.condition_key IS 'Condition that ends it: name, or hash where the name is not known';
COMMENT ON COLUMN beliefs.session IS 'Session of the extraction: name, or hash where the name is not known';
COMMENT ON COLUMN beliefs.extractor IS 'What extracted it';
COMMENT ON COLUMN beliefs.evidence_count IS 'How many utterances it cites';
COMMENT ON COLUMN beliefs.obsolete_when IS 'When it should become obsolete, in the extractor''s words; observed only';
COMMENT ON COLUMN beliefs.kind_misfit IS 'The extractor said that no kind fits; observed only';
COMMENT ON COLUMN beliefs.kind_misfit_reason IS 'Why no kind fits; observed only';
COMMENT ON COLUMN beliefs.supersedes_note IS 'What it seems to replace, in the extractor''s words; observed only';
COMMENT ON COLUMN beliefs.tags IS 'Tags of the extractor; observed only';
COMMENT ON COLUMN beliefs.writer_id IS 'Stream of the extraction';
COMMENT ON COLUMN beliefs.extracted_hlc IS 'Stamp of the extraction';
COMMENT ON COLUMN beliefs.since_hlc IS 'Stamp since which status and flags are as they are';
COMMENT ON COLUMN beliefs.until_hlc IS 'Stamp at which they change next as far as is known; 9223372036854775807 if never';
