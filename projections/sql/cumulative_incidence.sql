-- needs: watched_spells
-- The Aalen-Johansen estimator over exact counts; bands are the Python estimators' (projections/survival).
CREATE OR REPLACE MACRO cumulative_incidence_by(grouped_by, ts, only_active) AS TABLE
WITH spells AS (
    SELECT
        CASE grouped_by
            WHEN 'kind' THEN kind
            WHEN 'speech_act' THEN speech_act
            WHEN 'policy' THEN policy
            WHEN 'agent' THEN agent
            WHEN 'model' THEN model
            WHEN 'all' THEN 'all'
            ELSE error('incidences are grouped by all, kind, speech_act, policy, agent or model')
        END AS group_name,
        entry_ms, exit_ms, cause
    FROM watched_spells_at(ts, only_active)
    WHERE exit_ms > entry_ms
),
counts AS (
    SELECT group_name, age_ms,
        CAST(sum(entered) AS BIGINT) AS entered,
        CAST(sum(gone) AS BIGINT) AS gone,
        CAST(sum(ended) AS BIGINT) AS ended
    FROM (
        SELECT group_name, entry_ms AS age_ms, 1 AS entered, 0 AS gone, 0 AS ended FROM spells
        UNION ALL
        SELECT group_name, exit_ms, 0, 1, CASE WHEN cause = 'censored' THEN 0 ELSE 1 END FROM spells
    ) AS moves
    GROUP BY group_name, age_ms
),
risks AS (
    SELECT group_name, age_ms, ended,
        CAST(sum(entered - gone) OVER (PARTITION BY group_name ORDER BY age_ms) AS BIGINT) - entered + gone AS at_risk
    FROM counts
),
living AS (
    SELECT *,
        product(CASE WHEN ended > 0 THEN (at_risk - ended) / at_risk ELSE 1 END)
            OVER (PARTITION BY group_name ORDER BY age_ms) AS s
    FROM risks
    WHERE ended > 0
),
steps AS (
    SELECT group_name, age_ms, at_risk, s, lag(s, 1, 1) OVER (PARTITION BY group_name ORDER BY age_ms) AS before
    FROM living
),
causes AS (SELECT DISTINCT group_name, cause FROM spells WHERE cause <> 'censored'),
ends AS (
    SELECT group_name, cause, exit_ms AS age_ms, count(*) AS ended
    FROM spells
    WHERE cause <> 'censored'
    GROUP BY group_name, cause, exit_ms
)
SELECT
    s.group_name,
    c.cause,
    s.age_ms,
    s.at_risk,
    coalesce(e.ended, 0) AS ended,
    round(s.s, 12) AS survival,
    round(
        sum(s.before * coalesce(e.ended, 0) / s.at_risk)
            OVER (PARTITION BY s.group_name, c.cause ORDER BY s.age_ms),
        12
    ) AS incidence
FROM steps AS s
JOIN causes AS c ON c.group_name = s.group_name
LEFT JOIN ends AS e ON e.group_name = s.group_name AND e.cause = c.cause AND e.age_ms = s.age_ms;
COMMENT ON MACRO TABLE cumulative_incidence_by IS 'One grouping of cumulative_incidence at another moment; with only_active true, ends of being active';

CREATE OR REPLACE VIEW cumulative_incidence AS
SELECT 'all' AS grouped_by, * FROM cumulative_incidence_by('all', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'kind', * FROM cumulative_incidence_by('kind', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'speech_act', * FROM cumulative_incidence_by('speech_act', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'policy', * FROM cumulative_incidence_by('policy', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'agent', * FROM cumulative_incidence_by('agent', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'model', * FROM cumulative_incidence_by('model', (SELECT as_of_ms FROM meta), false);
COMMENT ON VIEW cumulative_incidence IS 'By which cause beliefs end: Aalen-Johansen incidences at meta.as_of_ms; with the survival they sum to one; filter by grouped_by';
COMMENT ON COLUMN cumulative_incidence.grouped_by IS 'all, kind, speech_act, policy, agent or model';
COMMENT ON COLUMN cumulative_incidence.group_name IS 'The group: a kind, a speech act …';
COMMENT ON COLUMN cumulative_incidence.cause IS 'superseded, contradicted, retracted, obsolete, expired, duplicate or erased';
COMMENT ON COLUMN cumulative_incidence.age_ms IS 'Age in ms since the extraction at which some spell of the group ended';
COMMENT ON COLUMN cumulative_incidence.at_risk IS 'Spells with entry < age <= exit';
COMMENT ON COLUMN cumulative_incidence.ended IS 'Ended by this cause at this age';
COMMENT ON COLUMN cumulative_incidence.survival IS 'Share that had ended by no cause just after this age';
COMMENT ON COLUMN cumulative_incidence.incidence IS 'Share that had ended by this cause just after this age';
