-- needs: watched_spells
-- The Kaplan-Meier curve over exact counts, as projections/survival has it (docs/curves.md); z is that of 95 % bands.
-- Floats of windows may differ in the last digit from run to run, hence round(); no digest contains them.
CREATE OR REPLACE MACRO invalidation_curve_by(grouped_by, ts, only_active) AS TABLE
WITH spells AS (
    SELECT
        CASE grouped_by
            WHEN 'kind' THEN kind
            WHEN 'speech_act' THEN speech_act
            WHEN 'policy' THEN policy
            WHEN 'agent' THEN agent
            WHEN 'model' THEN model
            WHEN 'all' THEN 'all'
            ELSE error('curves are grouped by all, kind, speech_act, policy, agent or model')
        END AS group_name,
        entry_ms, exit_ms, cause
    FROM watched_spells_at(ts, only_active)
    WHERE exit_ms > entry_ms
),
counts AS (
    SELECT group_name, age_ms,
        CAST(sum(entered) AS BIGINT) AS entered,
        CAST(sum(ended) AS BIGINT) AS ended,
        CAST(sum(gone) AS BIGINT) AS gone
    FROM (
        SELECT group_name, entry_ms AS age_ms, 1 AS entered, 0 AS ended, 0 AS gone FROM spells
        UNION ALL
        SELECT group_name, exit_ms, 0,
            CASE WHEN cause IN ('superseded', 'contradicted', 'retracted', 'obsolete') THEN 1 ELSE 0 END, 1
        FROM spells
    ) AS moves
    GROUP BY group_name, age_ms
),
risks AS (
    SELECT group_name, age_ms, entered, ended, gone - ended AS censored,
        CAST(sum(entered - gone) OVER (PARTITION BY group_name ORDER BY age_ms) AS BIGINT) - entered + gone AS at_risk
    FROM counts
),
products AS (
    SELECT *,
        product(CASE WHEN ended > 0 THEN (at_risk - ended) / at_risk ELSE 1 END) OVER own AS s,
        sum(CASE WHEN ended > 0 AND at_risk > ended THEN ended / (at_risk * (at_risk - ended)) ELSE 0 END) OVER own AS g
    FROM risks
    WINDOW own AS (PARTITION BY group_name ORDER BY age_ms)
),
bands AS (
    SELECT *, CASE WHEN s > 0 AND s < 1 THEN exp(1.959963984540054 * sqrt(g) / -ln(s)) END AS width FROM products
)
SELECT
    group_name,
    age_ms,
    at_risk,
    ended,
    censored,
    entered,
    round(s, 12) AS survival,
    round(s * s * g, 15) AS variance,
    round(CASE WHEN s >= 1 THEN 1 WHEN s > 0 THEN pow(s, width) END, 12) AS lower,
    round(CASE WHEN s >= 1 THEN 1 WHEN s > 0 THEN pow(s, 1 / width) END, 12) AS upper
FROM bands;
COMMENT ON MACRO TABLE invalidation_curve_by IS 'One grouping of invalidation_curve at another moment; with only_active true, curves of being active';

CREATE OR REPLACE VIEW invalidation_curve AS
SELECT 'all' AS grouped_by, * FROM invalidation_curve_by('all', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'kind', * FROM invalidation_curve_by('kind', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'speech_act', * FROM invalidation_curve_by('speech_act', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'policy', * FROM invalidation_curve_by('policy', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'agent', * FROM invalidation_curve_by('agent', (SELECT as_of_ms FROM meta), false)
UNION ALL
SELECT 'model', * FROM invalidation_curve_by('model', (SELECT as_of_ms FROM meta), false);
COMMENT ON VIEW invalidation_curve IS 'How long beliefs hold: Kaplan-Meier curves at meta.as_of_ms, one row per age at which a spell enters or leaves; filter by grouped_by';
COMMENT ON COLUMN invalidation_curve.grouped_by IS 'all, kind, speech_act, policy, agent or model';
COMMENT ON COLUMN invalidation_curve.group_name IS 'The group: a kind, a speech act …';
COMMENT ON COLUMN invalidation_curve.age_ms IS 'Age in ms since the extraction';
COMMENT ON COLUMN invalidation_curve.at_risk IS 'Spells with entry < age <= exit';
COMMENT ON COLUMN invalidation_curve.ended IS 'Superseded, contradicted, retracted or obsolete at this age';
COMMENT ON COLUMN invalidation_curve.censored IS 'Left at this age in any other way, expiry included';
COMMENT ON COLUMN invalidation_curve.entered IS 'Entered at this age';
COMMENT ON COLUMN invalidation_curve.survival IS 'Share still held just after this age';
COMMENT ON COLUMN invalidation_curve.variance IS 'Greenwood''s variance of the survival';
COMMENT ON COLUMN invalidation_curve.lower IS 'Lower end of the pointwise 95 % log-log band; NULL where the survival is 0';
COMMENT ON COLUMN invalidation_curve.upper IS 'Upper end of the band';
