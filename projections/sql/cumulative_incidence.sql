-- needs: watched_spells
-- The Aalen-Johansen estimator over exact counts, summed as decimals; bands are in projections/survival only.
CREATE OR REPLACE MACRO cumulative_incidences(groupings, ts, only_active) AS TABLE
WITH spells AS (
    SELECT
        g.grouped_by,
        CASE g.grouped_by
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
    CROSS JOIN (SELECT unnest(groupings) AS grouped_by) AS g
    WHERE exit_ms > entry_ms
),
counts AS (
    SELECT grouped_by, group_name, age_ms,
        CAST(sum(entered) AS BIGINT) AS entered,
        CAST(sum(gone) AS BIGINT) AS gone,
        CAST(sum(ended) AS BIGINT) AS ended
    FROM (
        SELECT grouped_by, group_name, entry_ms AS age_ms, 1 AS entered, 0 AS gone, 0 AS ended FROM spells
        UNION ALL
        SELECT grouped_by, group_name, exit_ms, 0, 1, CASE WHEN cause = 'censored' THEN 0 ELSE 1 END FROM spells
    ) AS moves
    GROUP BY grouped_by, group_name, age_ms
),
risks AS (
    SELECT grouped_by, group_name, age_ms, ended,
        CAST(sum(entered - gone) OVER (PARTITION BY grouped_by, group_name ORDER BY age_ms) AS BIGINT) - entered + gone AS at_risk
    FROM counts
),
living AS (
    SELECT *, CASE none_left WHEN 1 THEN 0 ELSE exp(log_s) END AS s
    FROM (
        SELECT *,
            sum(CASE WHEN at_risk > ended THEN CAST(ln((at_risk - ended) / at_risk) AS DECIMAL(38, 20)) ELSE 0 END)
                OVER own AS log_s,
            max(CASE WHEN ended = at_risk THEN 1 ELSE 0 END) OVER own AS none_left
        FROM risks
        WHERE ended > 0
        WINDOW own AS (PARTITION BY grouped_by, group_name ORDER BY age_ms)
    ) AS logs
),
steps AS (
    SELECT grouped_by, group_name, age_ms, at_risk, s, lag(s, 1, 1) OVER (PARTITION BY grouped_by, group_name ORDER BY age_ms) AS before
    FROM living
),
causes AS (SELECT DISTINCT grouped_by, group_name, cause FROM spells WHERE cause <> 'censored'),
ends AS (
    SELECT grouped_by, group_name, cause, exit_ms AS age_ms, count(*) AS ended
    FROM spells
    WHERE cause <> 'censored'
    GROUP BY grouped_by, group_name, cause, exit_ms
)
SELECT
    s.grouped_by,
    s.group_name,
    c.cause,
    s.age_ms,
    s.at_risk,
    coalesce(e.ended, 0) AS ended,
    round(s.s, 12) AS survival,
    round(
        CAST(
            sum(CAST(s.before * coalesce(e.ended, 0) / s.at_risk AS DECIMAL(38, 24)))
                OVER (PARTITION BY s.grouped_by, s.group_name, c.cause ORDER BY s.age_ms) AS DOUBLE
        ),
        12
    ) AS incidence
FROM steps AS s
JOIN causes AS c ON c.grouped_by = s.grouped_by AND c.group_name = s.group_name
LEFT JOIN ends AS e
    ON e.grouped_by = s.grouped_by AND e.group_name = s.group_name AND e.cause = c.cause AND e.age_ms = s.age_ms;
COMMENT ON MACRO TABLE cumulative_incidences IS 'The view cumulative_incidence for a list of groupings, at another moment; with only_active true, for stretches of being active';

CREATE OR REPLACE VIEW cumulative_incidence AS
SELECT * FROM cumulative_incidences(['all', 'kind', 'speech_act', 'policy', 'agent', 'model'], (SELECT as_of_ms FROM meta), false);
COMMENT ON VIEW cumulative_incidence IS 'By which cause beliefs end: Aalen-Johansen incidences at meta.as_of_ms; with the survival they sum to one; filter by grouped_by';
COMMENT ON COLUMN cumulative_incidence.grouped_by IS 'all, kind, speech_act, policy, agent or model';
COMMENT ON COLUMN cumulative_incidence.group_name IS 'The group: a kind, a speech act …';
COMMENT ON COLUMN cumulative_incidence.cause IS 'superseded, contradicted, retracted, obsolete, expired, duplicate or erased';
COMMENT ON COLUMN cumulative_incidence.age_ms IS 'Age in ms since the extraction at which some spell of the group ended';
COMMENT ON COLUMN cumulative_incidence.at_risk IS 'Spells with entry < age <= exit';
COMMENT ON COLUMN cumulative_incidence.ended IS 'Ended by this cause at this age';
COMMENT ON COLUMN cumulative_incidence.survival IS 'Share that had ended by no cause just after this age';
COMMENT ON COLUMN cumulative_incidence.incidence IS 'Share that had ended by this cause just after this age';
