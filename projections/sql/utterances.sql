-- like: utterance_facts utterance_texts
CREATE OR REPLACE VIEW utterances AS
SELECT
    u.utterance_id,
    coalesce(speakers.name, u.speaker_hash) AS speaker,
    w.verbatim,
    coalesce(conversations.name, u.conversation_hash) AS conversation,
    u.turn,
    w.channel,
    w.topic,
    w.entities,
    u.said_hlc >> 16 AS said_ms,
    coalesce(agents.name, u.agent_hash) AS agent,
    u.writer_id,
    u.seq,
    u.source_ref,
    u.said_hlc,
    u.recorded_lag_ms
FROM utterance_facts AS u
LEFT JOIN utterance_texts AS w ON w.row_key = u.row_key AND w.utterance_id = u.utterance_id
LEFT JOIN names AS speakers ON speakers.hash = u.speaker_hash
LEFT JOIN names AS conversations ON conversations.hash = u.conversation_hash
LEFT JOIN names AS agents ON agents.hash = u.agent_hash;
COMMENT ON VIEW utterances IS 'What was said, by whom, where and when';
COMMENT ON COLUMN utterances.speaker IS 'Name of the speaker; its hash where the name is not known';
COMMENT ON COLUMN utterances.conversation IS 'Name of the conversation; its hash where the name is not known';
COMMENT ON COLUMN utterances.said_ms IS 'When it was said, ms since 1970 UTC';
COMMENT ON COLUMN utterances.agent IS 'Name of the recording agent; its hash where the name is not known';
