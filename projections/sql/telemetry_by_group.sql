-- needs: lifecycle_telemetry
CREATE OR REPLACE MACRO telemetry_by_groups(groupings, ts) AS TABLE
SELECT
    g.grouped_by,
    CASE g.grouped_by
        WHEN 'kind' THEN kind
        WHEN 'speech_act' THEN speech_act
        WHEN 'policy' THEN policy
        WHEN 'agent' THEN agent
        WHEN 'model' THEN model
        WHEN 'all' THEN 'all'
        ELSE error('telemetry is grouped by all, kind, speech_act, policy, agent or model')
    END AS group_name,
    count(*) AS beliefs,
    count(*) FILTER (WHERE status = 'candidate') AS candidates,
    count(*) FILTER (WHERE status = 'active') AS active,
    count(*) FILTER (WHERE status = 'superseded') AS ended_superseded,
    count(*) FILTER (WHERE status = 'contradicted') AS ended_contradicted,
    count(*) FILTER (WHERE status = 'retracted') AS ended_retracted,
    count(*) FILTER (WHERE status = 'obsolete') AS ended_obsolete,
    count(*) FILTER (WHERE status = 'expired') AS ended_expired,
    count(*) FILTER (WHERE status = 'duplicate') AS ended_duplicate,
    count(*) FILTER (WHERE status = 'erased') AS ended_erased,
    count(*) FILTER (WHERE stale) AS stale,
    count(*) FILTER (WHERE contested) AS contested,
    CAST(sum(injected) AS BIGINT) AS injected,
    CAST(sum(used) AS BIGINT) AS used,
    CAST(sum(ignored) AS BIGINT) AS ignored,
    CAST(sum(corrected) AS BIGINT) AS corrected,
    CAST(sum(affirmed) AS BIGINT) AS affirmed,
    CAST(sum(contradicted) AS BIGINT) AS contradicted,
    CAST(sum(superseded) AS BIGINT) AS superseded,
    count(*) FILTER (WHERE injected > 0) AS shown,
    count(*) FILTER (WHERE injected > 0 AND used = 0) AS shown_never_used,
    min(began_ms) AS first_began_ms,
    max(began_ms) AS last_began_ms,
    quantile_disc(age_at_invalidation_ms, 0.5) AS median_age_at_invalidation_ms
FROM lifecycle_telemetry_at(ts)
CROSS JOIN (SELECT unnest(groupings) AS grouped_by) AS g
GROUP BY 1, 2;
COMMENT ON MACRO TABLE telemetry_by_groups IS 'The view telemetry_by_group for a list of groupings, at another moment';

CREATE OR REPLACE VIEW telemetry_by_group AS
SELECT * FROM telemetry_by_groups(['all', 'kind', 'speech_act', 'policy', 'agent', 'model'], (SELECT as_of_ms FROM meta));
COMMENT ON VIEW telemetry_by_group IS 'lifecycle_telemetry summed up by agent, kind, speech act, policy and model; filter by grouped_by';
COMMENT ON COLUMN telemetry_by_group.grouped_by IS 'all, kind, speech_act, policy, agent or model';
COMMENT ON COLUMN telemetry_by_group.group_name IS 'The group: a kind, a speech act …';
COMMENT ON COLUMN telemetry_by_group.beliefs IS 'Beliefs extracted by meta.as_of_ms';
COMMENT ON COLUMN telemetry_by_group.candidates IS 'Those that are candidates';
COMMENT ON COLUMN telemetry_by_group.active IS 'Those that are active';
COMMENT ON COLUMN telemetry_by_group.ended_superseded IS 'Those that are superseded';
COMMENT ON COLUMN telemetry_by_group.ended_contradicted IS 'Those that ended as contradicted';
COMMENT ON COLUMN telemetry_by_group.ended_retracted IS 'Those that are retracted';
COMMENT ON COLUMN telemetry_by_group.ended_obsolete IS 'Those that are obsolete';
COMMENT ON COLUMN telemetry_by_group.ended_expired IS 'Those that expired';
COMMENT ON COLUMN telemetry_by_group.ended_duplicate IS 'Those that were merged into another';
COMMENT ON COLUMN telemetry_by_group.ended_erased IS 'Those whose words were erased';
COMMENT ON COLUMN telemetry_by_group.stale IS 'Those that live and are stale';
COMMENT ON COLUMN telemetry_by_group.contested IS 'Those that live and are contested';
COMMENT ON COLUMN telemetry_by_group.injected IS 'How often they were shown';
COMMENT ON COLUMN telemetry_by_group.used IS 'Reports of use';
COMMENT ON COLUMN telemetry_by_group.ignored IS 'Reports of having been ignored';
COMMENT ON COLUMN telemetry_by_group.corrected IS 'Reports of having been corrected';
COMMENT ON COLUMN telemetry_by_group.affirmed IS 'Affirmations';
COMMENT ON COLUMN telemetry_by_group.contradicted IS 'Contradictions raised, one per side';
COMMENT ON COLUMN telemetry_by_group.superseded IS 'Supersessions that name them as the old belief';
COMMENT ON COLUMN telemetry_by_group.shown IS 'Beliefs that were shown at least once';
COMMENT ON COLUMN telemetry_by_group.shown_never_used IS 'Beliefs that were shown, and of which no use was reported';
COMMENT ON COLUMN telemetry_by_group.first_began_ms IS 'When the first of them was extracted, ms since 1970 UTC';
COMMENT ON COLUMN telemetry_by_group.last_began_ms IS 'When the last of them was extracted, ms since 1970 UTC';
COMMENT ON COLUMN telemetry_by_group.median_age_at_invalidation_ms IS 'Median age in ms of those that were invalidated at that; no estimate of a lifetime: those that still hold are not in it (see invalidation_curve)';
