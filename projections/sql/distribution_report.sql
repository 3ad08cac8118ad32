-- needs: lifecycle_telemetry
CREATE OR REPLACE VIEW distribution_report AS
WITH labelled AS (
    SELECT l.*, f.kind_misfit, coalesce(f.node_kind, 'belief') AS node_kind, coalesce(f.extractor, '(none)') AS extractor,
        t.kind_misfit_reason, t.obsolete_when, t.tags
    FROM lifecycle_telemetry AS l
    JOIN belief_facts AS f ON f.belief_id = l.belief_id
    LEFT JOIN belief_texts AS t ON t.row_key = f.row_key AND t.belief_id = f.belief_id
),
called AS (
    SELECT 'kind' AS aspect, kind AS label, * FROM labelled
    UNION ALL
    SELECT 'node_kind', node_kind, * FROM labelled
    UNION ALL
    SELECT 'speech_act', speech_act, * FROM labelled
    UNION ALL
    SELECT 'policy', policy, * FROM labelled
    UNION ALL
    SELECT 'extractor', extractor, * FROM labelled
    UNION ALL
    SELECT 'misfit_reason', coalesce(kind_misfit_reason, '(no reason)'), * FROM labelled WHERE kind_misfit
    UNION ALL
    SELECT 'obsolete_when', obsolete_when, * FROM labelled WHERE obsolete_when IS NOT NULL
    UNION ALL
    SELECT 'tag', tag, u.* EXCLUDE (tag)
    FROM (SELECT *, unnest(list_distinct(tags)) AS tag FROM labelled WHERE tags IS NOT NULL) AS u
)
SELECT
    aspect,
    label,
    count(*) AS beliefs,
    count(*) FILTER (WHERE kind_misfit) AS misfits,
    count(*) FILTER (WHERE status = 'candidate') AS candidates,
    count(*) FILTER (WHERE status = 'active') AS active,
    count(*) FILTER (WHERE status = 'superseded') AS superseded,
    count(*) FILTER (WHERE status = 'contradicted') AS contradicted,
    count(*) FILTER (WHERE status = 'retracted') AS retracted,
    count(*) FILTER (WHERE status = 'obsolete') AS obsolete,
    count(*) FILTER (WHERE status = 'expired') AS expired,
    count(*) FILTER (WHERE status = 'duplicate') AS duplicate,
    count(*) FILTER (WHERE status = 'erased') AS erased,
    count(*) FILTER (WHERE stale) AS stale,
    count(*) FILTER (WHERE injected > 0) AS shown,
    count(*) FILTER (WHERE used > 0) AS used,
    count(*) FILTER (WHERE corrected > 0) AS corrected,
    quantile_disc(age_at_invalidation_ms, 0.5) AS median_age_at_invalidation_ms
FROM called
GROUP BY aspect, label;
COMMENT ON VIEW distribution_report IS 'What the extractor called beliefs, beside how they behaved by meta.as_of_ms: one row per label; a belief with two tags is in two rows';
COMMENT ON COLUMN distribution_report.aspect IS 'kind, node_kind, speech_act, policy, extractor, misfit_reason, obsolete_when or tag';
COMMENT ON COLUMN distribution_report.label IS 'The kind, phrase, tag … itself';
COMMENT ON COLUMN distribution_report.beliefs IS 'Beliefs with this label';
COMMENT ON COLUMN distribution_report.misfits IS 'Those of which the extractor said that no kind fits';
COMMENT ON COLUMN distribution_report.candidates IS 'Those that are candidates';
COMMENT ON COLUMN distribution_report.active IS 'Those that are active';
COMMENT ON COLUMN distribution_report.superseded IS 'Those that are superseded';
COMMENT ON COLUMN distribution_report.contradicted IS 'Those that ended as contradicted';
COMMENT ON COLUMN distribution_report.retracted IS 'Those that are retracted';
COMMENT ON COLUMN distribution_report.obsolete IS 'Those that are obsolete';
COMMENT ON COLUMN distribution_report.expired IS 'Those that expired';
COMMENT ON COLUMN distribution_report.duplicate IS 'Those that were merged into another';
COMMENT ON COLUMN distribution_report.erased IS 'Those whose words were erased';
COMMENT ON COLUMN distribution_report.stale IS 'Those that live and are stale';
COMMENT ON COLUMN distribution_report.shown IS 'Those that were shown at least once';
COMMENT ON COLUMN distribution_report.used IS 'Those that were reported as used at least once';
COMMENT ON COLUMN distribution_report.corrected IS 'Those that were shown and corrected at least once';
COMMENT ON COLUMN distribution_report.median_age_at_invalidation_ms IS 'Median age in ms at invalidation of those that were invalidated; no estimate of a lifetime';
