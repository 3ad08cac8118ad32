-- needs: evidence
-- like: anomaly_facts
CREATE OR REPLACE VIEW anomalies AS
SELECT event_id, type, state, reason, about_id, hlc >> 16 AS at_ms FROM anomaly_facts
UNION ALL
SELECT e.belief_id, 'belief.extracted', 'noted', 'dangling_evidence', e.cited, f.extracted_hlc >> 16
FROM evidence AS e
JOIN belief_facts AS f ON f.belief_id = e.belief_id
WHERE e.dangling
UNION ALL
SELECT u.use_id, 'memory.used', 'noted', 'dangling_injection', u.injection_id, u.used_hlc >> 16
FROM use_facts AS u
ANTI JOIN injection_facts AS i ON i.injection_id = u.injection_id
UNION ALL
SELECT c.copy_id, c.type, 'noted', 'copy_by_another_agent', c.entity_id, c.copied_hlc >> 16
FROM copies AS c
JOIN (
    SELECT belief_id AS entity_id, agent_hash FROM belief_facts
    UNION ALL
    SELECT utterance_id, agent_hash FROM utterance_facts
) AS first ON first.entity_id = c.entity_id AND first.agent_hash <> c.agent_hash;
COMMENT ON VIEW anomalies IS 'What has no effect, waits, or dangles: every event that is not what its author may have meant';
COMMENT ON COLUMN anomalies.about_id IS 'What it names: the missing id, the belief, the target it waits to end, the evidence, the entity';
COMMENT ON COLUMN anomalies.at_ms IS 'Stamp of the event in ms since 1970 UTC';
