-- needs: as_of_hlc beliefs writers
-- like: beliefs
-- Events without effect (state void in anomaly_facts) are not counted.
CREATE OR REPLACE MACRO lifecycle_telemetry_at(ts) AS TABLE
WITH moment AS (SELECT as_of_hlc(ts) AS as_of),
void AS (SELECT DISTINCT event_id FROM anomaly_facts WHERE state = 'void'),
events AS (
    SELECT belief_id, 'injected' AS what, injected_hlc AS hlc FROM injection_cards
    UNION ALL
    SELECT belief_id, outcome, used_hlc FROM use_facts
    UNION ALL
    SELECT belief_id, 'contradicted_live', detected_hlc FROM live_contradiction_facts
    UNION ALL
    SELECT belief_id, 'prompted', asked_hlc FROM revalidation_prompts
    UNION ALL
    SELECT left_id, 'contradicted', raised_hlc FROM contradiction_facts
    UNION ALL
    SELECT right_id, 'contradicted', raised_hlc FROM contradiction_facts WHERE right_id <> left_id
    UNION ALL
    SELECT other_id, 'superseding', revised_hlc
    FROM revision_facts
    WHERE type = 'belief.superseded' AND revision_id NOT IN (SELECT event_id FROM void)
    UNION ALL
    SELECT belief_id,
        CASE type
            WHEN 'belief.affirmed' THEN 'affirmed'
            WHEN 'belief.superseded' THEN 'superseded'
            WHEN 'belief.merged' THEN 'merged'
            WHEN 'belief.retracted' THEN 'retracted'
            WHEN 'belief.reinstated' THEN 'reinstated'
            WHEN 'belief.promoted' THEN 'promoted'
            WHEN 'belief.demoted' THEN 'demoted'
            WHEN 'belief.reclassified' THEN 'reclassified'
            WHEN 'condition.met' THEN 'condition'
            WHEN 'memory.revalidated' THEN CASE how WHEN 'confirmed' THEN 'affirmed' WHEN 'rejected' THEN 'retracted' END
        END,
        revised_hlc
    FROM revision_facts
    WHERE revision_id NOT IN (SELECT event_id FROM void)
),
tallies AS (
    SELECT
        e.belief_id,
        count(*) FILTER (WHERE what = 'injected') AS injected,
        count(*) FILTER (WHERE what = 'used') AS used,
        count(*) FILTER (WHERE what = 'ignored') AS ignored,
        count(*) FILTER (WHERE what = 'corrected') AS corrected,
        count(*) FILTER (WHERE what = 'affirmed') AS affirmed,
        count(*) FILTER (WHERE what = 'contradicted') AS contradicted,
        count(*) FILTER (WHERE what = 'contradicted_live') AS contradicted_live,
        count(*) FILTER (WHERE what = 'superseded') AS superseded,
        count(*) FILTER (WHERE what = 'superseding') AS supersedes,
        count(*) FILTER (WHERE what = 'merged') AS merged,
        count(*) FILTER (WHERE what = 'retracted') AS retracted,
        count(*) FILTER (WHERE what = 'reinstated') AS reinstated,
        count(*) FILTER (WHERE what = 'promoted') AS promoted,
        count(*) FILTER (WHERE what = 'demoted') AS demoted,
        count(*) FILTER (WHERE what = 'reclassified') AS reclassified,
        count(*) FILTER (WHERE what = 'prompted') AS prompted,
        min(hlc) FILTER (WHERE what = 'injected') >> 16 AS first_injected_ms,
        max(hlc) FILTER (WHERE what = 'injected') >> 16 AS last_injected_ms,
        min(hlc) FILTER (WHERE what = 'used') >> 16 AS first_used_ms,
        max(hlc) FILTER (WHERE what = 'used') >> 16 AS last_used_ms,
        min(hlc) FILTER (WHERE what = 'affirmed') >> 16 AS first_affirmed_ms,
        max(hlc) FILTER (WHERE what = 'affirmed') >> 16 AS last_affirmed_ms,
        min(hlc) FILTER (WHERE what = 'contradicted') >> 16 AS first_contradicted_ms,
        max(hlc) FILTER (WHERE what = 'contradicted') >> 16 AS last_contradicted_ms,
        min(hlc) FILTER (WHERE what = 'superseded') >> 16 AS first_superseded_ms,
        max(hlc) FILTER (WHERE what = 'superseded') >> 16 AS last_superseded_ms
    FROM events AS e CROSS JOIN moment
    WHERE e.hlc <= moment.as_of
    GROUP BY e.belief_id
),
past AS (
    SELECT i.row_key, i.belief_id,
        min(i.since_hlc) FILTER (WHERE i.status = 'active') >> 16 AS first_active_ms,
        min(i.since_hlc) FILTER (WHERE i.stale) >> 16 AS first_stale_ms,
        max(i.since_hlc) FILTER (WHERE i.contested) IS NOT NULL AS ever_contested,
        max(i.since_hlc) FILTER (WHERE i.forked) IS NOT NULL AS ever_forked
    FROM belief_intervals AS i CROSS JOIN moment
    WHERE i.since_hlc <= moment.as_of
    GROUP BY i.row_key, i.belief_id
)
SELECT
    f.belief_id,
    t.statement,
    now.status,
    f.kind,
    f.speech_act,
    CASE WHEN f.policy IS NULL THEN 'half_life@1' WHEN contains(f.policy, '@') THEN f.policy ELSE f.policy || '@1' END
        AS policy,
    coalesce(agents.name, f.agent_hash) AS agent,
    coalesce(w.model, '(no model)') AS model,
    f.extracted_hlc >> 16 AS began_ms,
    coalesce(c.injected, 0) AS injected,
    coalesce(c.used, 0) AS used,
    coalesce(c.ignored, 0) AS ignored,
    coalesce(c.corrected, 0) AS corrected,
    coalesce(c.affirmed, 0) AS affirmed,
    coalesce(c.contradicted, 0) AS contradicted,
    coalesce(c.contradicted_live, 0) AS contradicted_live,
    coalesce(c.superseded, 0) AS superseded,
    coalesce(c.supersedes, 0) AS supersedes,
    coalesce(c.merged, 0) AS merged,
    coalesce(c.retracted, 0) AS retracted,
    coalesce(c.reinstated, 0) AS reinstated,
    coalesce(c.promoted, 0) AS promoted,
    coalesce(c.demoted, 0) AS demoted,
    coalesce(c.reclassified, 0) AS reclassified,
    coalesce(c.prompted, 0) AS prompted,
    c.first_injected_ms,
    c.last_injected_ms,
    c.first_used_ms,
    c.last_used_ms,
    c.first_affirmed_ms,
    c.last_affirmed_ms,
    c.first_contradicted_ms,
    c.last_contradicted_ms,
    c.first_superseded_ms,
    c.last_superseded_ms,
    past.first_active_ms,
    now.ended_hlc >> 16 AS ended_ms,
    CASE WHEN now.ended_hlc IS NOT NULL THEN now.status END AS ended_cause,
    now.cause_id AS ended_by,
    (now.ended_hlc >> 16) - (f.extracted_hlc >> 16) AS age_at_end_ms,
    CASE WHEN now.status IN ('superseded', 'contradicted', 'retracted', 'obsolete')
        THEN (now.ended_hlc >> 16) - (f.extracted_hlc >> 16) END AS age_at_invalidation_ms,
    now.stale,
    past.first_stale_ms,
    now.contested,
    past.ever_contested,
    now.forked,
    past.ever_forked
FROM belief_intervals AS now
CROSS JOIN moment
JOIN belief_facts AS f ON f.row_key = now.row_key AND f.belief_id = now.belief_id
JOIN past ON past.row_key = now.row_key AND past.belief_id = now.belief_id
LEFT JOIN belief_texts AS t ON t.row_key = f.row_key AND t.belief_id = f.belief_id
LEFT JOIN tallies AS c ON c.belief_id = f.belief_id
LEFT JOIN names AS agents ON agents.hash = f.agent_hash
LEFT JOIN writers AS w ON w.writer_id = f.writer_id
WHERE now.since_hlc <= moment.as_of AND moment.as_of < now.until_hlc;
COMMENT ON MACRO TABLE lifecycle_telemetry_at IS 'The view lifecycle_telemetry as it was at another moment';

CREATE OR REPLACE VIEW lifecycle_telemetry AS SELECT * FROM lifecycle_telemetry_at((SELECT as_of_ms FROM meta));
COMMENT ON VIEW lifecycle_telemetry IS 'What became of each belief up to meta.as_of_ms: counts of events that name it and were not void, first and last times, end, staleness';
COMMENT ON COLUMN lifecycle_telemetry.kind IS 'Kind, as extracted';
COMMENT ON COLUMN lifecycle_telemetry.speech_act IS 'Speech act, as extracted';
COMMENT ON COLUMN lifecycle_telemetry.policy IS 'Lifecycle policy with its version, as extracted; half_life@1 where none was named';
COMMENT ON COLUMN lifecycle_telemetry.model IS 'Language model behind the extracting agent; (no model) where it named none';
COMMENT ON COLUMN lifecycle_telemetry.injected IS 'How often it was shown';
COMMENT ON COLUMN lifecycle_telemetry.used IS 'Reports that it was used';
COMMENT ON COLUMN lifecycle_telemetry.ignored IS 'Reports that it was shown and ignored';
COMMENT ON COLUMN lifecycle_telemetry.corrected IS 'Reports that it was shown and corrected';
COMMENT ON COLUMN lifecycle_telemetry.affirmed IS 'Affirmations, confirmed revalidations included';
COMMENT ON COLUMN lifecycle_telemetry.contradicted IS 'Contradictions raised with it as a side';
COMMENT ON COLUMN lifecycle_telemetry.contradicted_live IS 'Utterances found to contradict it while it was in use';
COMMENT ON COLUMN lifecycle_telemetry.superseded IS 'Supersessions that name it as the old belief, waiting ones included';
COMMENT ON COLUMN lifecycle_telemetry.supersedes IS 'Supersessions that name it as the new belief, waiting ones included';
COMMENT ON COLUMN lifecycle_telemetry.merged IS 'Merges that name it as the duplicate, waiting ones included';
COMMENT ON COLUMN lifecycle_telemetry.retracted IS 'Retractions, rejected revalidations included';
COMMENT ON COLUMN lifecycle_telemetry.reinstated IS 'Reinstatements';
COMMENT ON COLUMN lifecycle_telemetry.promoted IS 'Promotions by an event of their own';
COMMENT ON COLUMN lifecycle_telemetry.demoted IS 'Demotions';
COMMENT ON COLUMN lifecycle_telemetry.reclassified IS 'Reclassifications';
COMMENT ON COLUMN lifecycle_telemetry.prompted IS 'Prompts to confirm it';
COMMENT ON COLUMN lifecycle_telemetry.first_injected_ms IS 'When it was first shown, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.last_injected_ms IS 'When it was last shown, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.first_used_ms IS 'When it was first reported as used, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.last_used_ms IS 'When it was last reported as used, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.first_affirmed_ms IS 'When it was first affirmed, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.last_affirmed_ms IS 'When it was last affirmed, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.first_contradicted_ms IS 'When a contradiction was first raised against it, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.last_contradicted_ms IS 'When a contradiction was last raised against it, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.first_superseded_ms IS 'When the first supersession of it was written, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.last_superseded_ms IS 'When the last supersession of it was written, ms since 1970 UTC';
COMMENT ON COLUMN lifecycle_telemetry.first_active_ms IS 'When it first became active, ms since 1970 UTC; NULL if it never was';
COMMENT ON COLUMN lifecycle_telemetry.age_at_end_ms IS 'Age in ms at the ending in force, whatever its cause; NULL while it lives';
COMMENT ON COLUMN lifecycle_telemetry.age_at_invalidation_ms IS 'Age in ms at which it was superseded, contradicted, retracted or obsolete; NULL otherwise';
COMMENT ON COLUMN lifecycle_telemetry.first_stale_ms IS 'When it first became stale, ms since 1970 UTC; NULL if it never was';
COMMENT ON COLUMN lifecycle_telemetry.ever_contested IS 'Contested at some time up to meta.as_of_ms';
COMMENT ON COLUMN lifecycle_telemetry.ever_forked IS 'Forked at some time up to meta.as_of_ms';
