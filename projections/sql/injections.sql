-- like: injection_facts injection_texts
CREATE OR REPLACE VIEW injections AS
SELECT
    i.injection_id,
    coalesce(agents.name, i.agent_hash) AS agent,
    coalesce(conversations.name, i.conversation_hash) AS conversation,
    coalesce(sessions.name, i.session_hash) AS session,
    i.turn,
    i.renderer,
    i.cards,
    w.query,
    w.context,
    i.injected_hlc >> 16 AS injected_ms,
    i.writer_id,
    i.injected_hlc,
    i.recorded_lag_ms
FROM injection_facts AS i
LEFT JOIN injection_texts AS w ON w.row_key = i.row_key AND w.injection_id = i.injection_id
LEFT JOIN names AS agents ON agents.hash = i.agent_hash
LEFT JOIN names AS conversations ON conversations.hash = i.conversation_hash
LEFT JOIN names AS sessions ON sessions.hash = i.session_hash;
COMMENT ON VIEW injections IS 'What agents were shown: one row per injection; its beliefs are in injection_cards';
COMMENT ON COLUMN injections.agent IS 'Name of the agent that recorded it; its hash where the name is not known';
COMMENT ON COLUMN injections.conversation IS 'Conversation: name, or hash where the name is not known';
COMMENT ON COLUMN injections.session IS 'Session: name, or hash where the name is not known';
COMMENT ON COLUMN injections.injected_ms IS 'When, ms since 1970 UTC';
