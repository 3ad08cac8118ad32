-- needs: watched_spells
-- The Kaplan-Meier curve over exact counts, as projections/survival has it (docs/curves.md); z is that of 95 % bands.
-- Logarithms and variances are summed as decimals: sums of floats would depend on the order, and so on threads.
CREATE OR REPLACE MACRO invalidation_curves(groupings, ts, only_active) AS TABLE
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
            ELSE error('curves are grouped by all, kind, speech_act, policy, agent or model')
        END AS group_name,
        entry_ms, exit_ms, cause
    FROM watched_spells_at(ts, only_active)
    CROSS JOIN (SELECT unnest(groupings) AS grouped_by) AS g
    WHERE exit_ms > entry_ms
),
counts AS (
    SELECT grouped_by, group_name, age_ms,
        CAST(sum(entered) AS BIGINT) AS entered,
        CAST(sum(ended) AS BIGINT) AS ended,
        CAST(sum(gone) AS BIGINT) AS gone
    FROM (
        SELECT grouped_by, group_name, entry_ms AS age_ms, 1 AS entered, 0 AS ended, 0 AS gone FROM spells
        UNION ALL
        SELECT grouped_by, group_name, exit_ms, 0,
            CASE WHEN cause IN ('superseded', 'contradicted', 'retracted', 'obsolete') THEN 1 ELSE 0 END, 1
        FROM spells
    ) AS moves
    GROUP BY grouped_by, group_name, age_ms
),
risks AS (
    SELECT grouped_by, group_name, age_ms, entered, ended, gone - ended AS censored,
        CAST(sum(entered - gone) OVER (PARTITION BY grouped_by, group_name ORDER BY age_ms) AS BIGINT) - entered + gone AS at_risk
    FROM counts
),
logs AS (
    SELECT *,
        sum(CASE WHEN ended > 0 AND at_risk > ended THEN CAST(ln((at_risk - ended) / at_risk) AS DECIMAL(38, 20)) ELSE 0 END)
            OVER own AS log_s,
        sum(CASE WHEN ended > 0 AND at_risk > ended THEN CAST(ended / (at_risk * (at_risk - ended)) AS DECIMAL(38, 24)) ELSE 0 END)
            OVER own AS g,
        max(CASE WHEN ended = at_risk AND ended > 0 THEN 1 ELSE 0 END) OVER own AS none_left
    FROM risks
    WINDOW own AS (PARTITION BY grouped_by, group_name ORDER BY age_ms)
),
products AS (SELECT *, CASE none_left WHEN 1 THEN 0 ELSE exp(log_s) END AS s FROM logs),
bands AS (
    SELECT *, CASE WHEN none_left = 0 AND log_s < 0 THEN exp(1.959963984540054 * sqrt(g) / -log_s) END AS width FROM products
)
SELECT
    grouped_by,
    group_name,
    age_ms,
    at_risk,
    ended,
    censored,
    entered,
    round(s, 12) AS survival,
    round(s * s * g, 15) AS variance,
    round(CASE WHEN log_s = 0 AND none_left = 0 THEN 1 WHEN none_left = 0 THEN pow(s, width) END, 12) AS lower,
    round(CASE WHEN log_s = 0 AND none_left = 0 THEN 1 WHEN none_left = 0 THEN pow(s, 1 / width) END, 12) AS upper
FROM bands;
COMMENT ON MACRO TABLE invalidation_curves IS 'The view invalidation_curve for a list of groupings, at another moment; with only_active true, for stretches of being active';

CREATE OR REPLACE VIEW invalidation_curve AS
SELECT * FROM invalidation_curves(['all', 'kind', 'speech_act', 'policy', 'agent', 'model'], (SELECT as_of_ms FROM meta), false);
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
