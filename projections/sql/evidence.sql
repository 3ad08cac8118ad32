-- needs: utterances
-- like: belief_evidence utterances
CREATE OR REPLACE VIEW evidence AS
WITH known AS (
    SELECT utterance_id AS name, utterance_id FROM utterance_facts
    UNION ALL
    SELECT copy_id, entity_id FROM copies WHERE type = 'utterance.recorded'
    UNION ALL
    SELECT source_ref, utterance_id FROM utterance_facts WHERE source_ref IS NOT NULL
)
SELECT
    e.belief_id,
    e.position,
    e.cited,
    known.utterance_id,
    known.utterance_id IS NULL AS dangling,
    u.speaker,
    u.verbatim,
    u.conversation,
    u.said_ms
FROM belief_evidence AS e
LEFT JOIN known ON known.name = e.cited
LEFT JOIN utterances AS u ON u.utterance_id = known.utterance_id;
COMMENT ON VIEW evidence IS 'What beliefs were read out of: each cited utterance with its words';
COMMENT ON COLUMN evidence.utterance_id IS 'The cited utterance; NULL where this store has none of that name';
COMMENT ON COLUMN evidence.dangling IS 'Whether this store has no utterance of that name';
