-- needs: as_of_hlc
-- like: writer_facts
CREATE OR REPLACE MACRO writer_stamps_at(ts) AS TABLE
WITH moment AS (SELECT as_of_hlc(ts) AS as_of),
stamped AS (
    SELECT writer_id, said_hlc AS hlc FROM utterance_facts
    UNION ALL SELECT writer_id, extracted_hlc FROM belief_facts
    UNION ALL SELECT writer_id, revised_hlc FROM revision_facts
    UNION ALL SELECT writer_id, raised_hlc FROM contradiction_facts
    UNION ALL SELECT writer_id, resolved_hlc FROM contradiction_resolutions
    UNION ALL SELECT writer_id, judged_hlc FROM judgement_facts
    UNION ALL SELECT writer_id, injected_hlc FROM injection_facts
    UNION ALL SELECT writer_id, used_hlc FROM use_facts
    UNION ALL SELECT writer_id, detected_hlc FROM live_contradiction_facts
    UNION ALL SELECT writer_id, asked_hlc FROM revalidation_prompts
    UNION ALL SELECT writer_id, answered_hlc FROM revalidation_answers
    UNION ALL SELECT writer_id, asked_hlc FROM question_facts
    UNION ALL SELECT writer_id, answered_hlc FROM question_answers
    UNION ALL SELECT writer_id, derived_hlc FROM conclusion_facts
    UNION ALL SELECT writer_id, defined_hlc FROM policy_definitions
    UNION ALL SELECT writer_id, activated_hlc FROM profile_activations
    UNION ALL SELECT writer_id, joined_hlc FROM writer_facts
    UNION ALL SELECT writer_id, closed_hlc FROM writer_closings
    UNION ALL SELECT writer_id, erased_hlc FROM erasure_facts
    UNION ALL SELECT writer_id, hlc FROM dropped
    UNION ALL SELECT NULL, copied_hlc FROM copies
)
SELECT s.writer_id, count(*) AS events, min(s.hlc) AS first_hlc, max(s.hlc) AS last_hlc
FROM stamped AS s CROSS JOIN moment
WHERE s.hlc <= moment.as_of
GROUP BY s.writer_id;
COMMENT ON MACRO TABLE writer_stamps_at IS 'The view writer_stamps as it was at another moment';

CREATE OR REPLACE VIEW writer_stamps AS SELECT * FROM writer_stamps_at((SELECT as_of_ms FROM meta));
COMMENT ON VIEW writer_stamps IS 'How many events each stream wrote by meta.as_of_ms, and from when to when';
COMMENT ON COLUMN writer_stamps.writer_id IS 'The stream; NULL for copies of entities, whose streams are not kept';
COMMENT ON COLUMN writer_stamps.events IS 'Events of the stream up to meta.as_of_ms';
COMMENT ON COLUMN writer_stamps.first_hlc IS 'Stamp of the first of them';
COMMENT ON COLUMN writer_stamps.last_hlc IS 'Stamp of the last of them: until then its source was watched';
