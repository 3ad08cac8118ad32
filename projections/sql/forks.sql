CREATE OR REPLACE VIEW forks AS
SELECT
    belief_id,
    min(since_hlc) >> 16 AS since_ms,
    CASE WHEN max(until_hlc) < 9223372036854775807 THEN max(until_hlc) >> 16 END AS until_ms,
    min(since_hlc) AS since_hlc,
    max(until_hlc) AS until_hlc
FROM (
    SELECT
        belief_id,
        since_hlc,
        until_hlc,
        forked,
        sum(CASE WHEN forked THEN 0 ELSE 1 END) OVER (PARTITION BY belief_id ORDER BY since_hlc) AS stretch
    FROM belief_intervals
    WHERE belief_id IN (SELECT belief_id FROM belief_intervals WHERE forked)
) AS marked
WHERE forked
GROUP BY belief_id, stretch;
COMMENT ON VIEW forks IS 'When concurrent revisions gave a belief different fates: one row per stretch';
COMMENT ON COLUMN forks.belief_id IS 'Id of the belief';
COMMENT ON COLUMN forks.since_ms IS 'When the fork began, ms since 1970 UTC';
COMMENT ON COLUMN forks.until_ms IS 'When a later revision ended it; NULL while it is open';
COMMENT ON COLUMN forks.since_hlc IS 'Stamp at which the fork began';
COMMENT ON COLUMN forks.until_hlc IS 'Stamp at which it ended; 9223372036854775807 while it is open';
