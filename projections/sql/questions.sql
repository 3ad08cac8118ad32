-- like: question_facts question_texts question_answers question_answer_texts
CREATE OR REPLACE VIEW questions AS
SELECT
    q.question_id,
    w.question,
    w.topic,
    coalesce(agents.name, q.agent_hash) AS agent,
    coalesce(sessions.name, q.session_hash) AS session,
    q.asked_hlc >> 16 AS asked_ms,
    a.reply_id,
    a.answer_id,
    aw.answer,
    coalesce(answerers.name, a.agent_hash) AS answered_by,
    a.answered_hlc >> 16 AS answered_ms,
    q.writer_id,
    q.asked_hlc
FROM question_facts AS q
LEFT JOIN question_texts AS w ON w.row_key = q.row_key AND w.question_id = q.question_id
LEFT JOIN question_answers AS a ON a.question_id = q.question_id
LEFT JOIN question_answer_texts AS aw ON aw.row_key = a.row_key AND aw.reply_id = a.reply_id
LEFT JOIN names AS agents ON agents.hash = q.agent_hash
LEFT JOIN names AS sessions ON sessions.hash = q.session_hash
LEFT JOIN names AS answerers ON answerers.hash = a.agent_hash;
COMMENT ON VIEW questions IS 'The curiosity queue: one row per question and answer, one for a question without an answer';
COMMENT ON COLUMN questions.agent IS 'Name of the asking agent; its hash where the name is not known';
COMMENT ON COLUMN questions.session IS 'Session: name, or hash where the name is not known';
COMMENT ON COLUMN questions.asked_ms IS 'When it was asked, ms since 1970 UTC';
COMMENT ON COLUMN questions.answered_by IS 'Name of the answering agent; NULL while open';
COMMENT ON COLUMN questions.answered_ms IS 'When it was answered, ms since 1970 UTC';
