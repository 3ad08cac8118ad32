-- needs: writer_stamps belief_events writers
-- like: belief_facts
CREATE OR REPLACE MACRO watched_spells_at(ts, only_active) AS TABLE
WITH moment AS (SELECT as_of_hlc(ts) AS as_of),
stamps AS (SELECT * FROM writer_stamps_at(ts)),
imported AS (
    SELECT f.row_key, f.belief_id, s.last_hlc
    FROM belief_facts AS f
    JOIN writers AS w ON w.writer_id = f.writer_id AND w.kind = 'importer'
    JOIN stamps AS s ON s.writer_id = f.writer_id
),
import_ends AS (
    SELECT i.row_key, i.belief_id, greatest(max(i.last_hlc), max(n.hlc)) AS last_hlc
    FROM imported AS i
    JOIN belief_events AS n ON n.belief_id = i.belief_id AND n.hlc <= (SELECT as_of FROM moment)
    GROUP BY i.row_key, i.belief_id
),
active_runs AS (
    SELECT row_key, belief_id, since_hlc, status,
        lead(since_hlc, 1, 9223372036854775807) OVER own AS until_hlc,
        lead(status) OVER own AS next_status,
        lead(cause_id) OVER own AS cause_id
    FROM (
        SELECT row_key, belief_id, since_hlc, status, cause_id,
            lag(status) OVER (PARTITION BY row_key, belief_id ORDER BY since_hlc) AS before
        FROM belief_intervals
    ) AS marked
    WHERE before IS NULL OR (before = 'active') <> (status = 'active')
    WINDOW own AS (PARTITION BY row_key, belief_id ORDER BY since_hlc)
),
stretches AS (
    SELECT row_key, belief_id, born_hlc, since_hlc, until_hlc, ended_as, cause_id
    FROM belief_spells
    WHERE NOT only_active
    UNION ALL
    SELECT a.row_key, a.belief_id, s.born_hlc, a.since_hlc, a.until_hlc, nullif(a.next_status, 'candidate'), a.cause_id
    FROM active_runs AS a
    JOIN belief_spells AS s ON s.row_key = a.row_key AND s.belief_id = a.belief_id AND s.number = 1
    WHERE only_active AND a.status = 'active'
),
bounded AS (
    SELECT s.*, CASE
            WHEN i.last_hlc IS NULL THEN (SELECT max(last_hlc) FROM stamps)
            WHEN s.cause_id IS NOT NULL AND s.until_hlc <= (SELECT as_of FROM moment)
                THEN greatest(i.last_hlc, s.until_hlc)
            ELSE i.last_hlc
        END AS watched_hlc
    FROM stretches AS s
    LEFT JOIN import_ends AS i ON i.row_key = s.row_key AND i.belief_id = s.belief_id
    WHERE s.since_hlc <= (SELECT as_of FROM moment)
)
SELECT
    b.belief_id,
    (b.since_hlc >> 16) - (b.born_hlc >> 16) AS entry_ms,
    (least(b.until_hlc, b.watched_hlc) >> 16) - (b.born_hlc >> 16) AS exit_ms,
    CASE WHEN b.until_hlc <= b.watched_hlc THEN coalesce(b.ended_as, 'censored') ELSE 'censored' END AS cause,
    f.kind,
    f.speech_act,
    CASE WHEN f.policy IS NULL THEN 'half_life@1' WHEN contains(f.policy, '@') THEN f.policy ELSE f.policy || '@1' END
        AS policy,
    coalesce(agents.name, f.agent_hash) AS agent,
    coalesce(w.model, '(no model)') AS model,
    b.born_hlc >> 16 AS born_ms,
    b.since_hlc,
    b.until_hlc,
    b.watched_hlc
FROM bounded AS b
JOIN belief_facts AS f ON f.row_key = b.row_key AND f.belief_id = b.belief_id
LEFT JOIN names AS agents ON agents.hash = f.agent_hash
LEFT JOIN writers AS w ON w.writer_id = f.writer_id;
COMMENT ON MACRO TABLE watched_spells_at IS 'The view watched_spells at another moment; with only_active true, stretches of being active instead of live';

CREATE OR REPLACE VIEW watched_spells AS SELECT * FROM watched_spells_at((SELECT as_of_ms FROM meta), false);
COMMENT ON VIEW watched_spells IS 'The rows that curves are made from: one per spell, as it was watched up to meta.as_of_ms; labels are those of the extraction';
COMMENT ON COLUMN watched_spells.belief_id IS 'The belief';
COMMENT ON COLUMN watched_spells.entry_ms IS 'Age in ms since the extraction at which watching begins: 0 unless it is a later spell or an entry as active';
COMMENT ON COLUMN watched_spells.exit_ms IS 'Age in ms at which the spell or its watching ended; a row with exit = entry was never watched and is left out of curves';
COMMENT ON COLUMN watched_spells.cause IS 'superseded, contradicted, retracted, obsolete; expired, duplicate, erased; censored where watching ended first, or by a demotion';
COMMENT ON COLUMN watched_spells.policy IS 'Lifecycle policy with its version; half_life@1 where none was named';
COMMENT ON COLUMN watched_spells.agent IS 'Name of the extracting agent; its hash where the name is not known';
COMMENT ON COLUMN watched_spells.model IS 'Language model behind the extracting agent; (no model) where it named none';
COMMENT ON COLUMN watched_spells.born_ms IS 'When the belief was extracted, ms since 1970 UTC';
COMMENT ON COLUMN watched_spells.since_hlc IS 'Stamp at which the spell begins';
COMMENT ON COLUMN watched_spells.until_hlc IS 'Stamp at which it ends as far as is known; 9223372036854775807 while open';
COMMENT ON COLUMN watched_spells.watched_hlc IS 'Stamp at which watching ends: the last one up to meta.as_of_ms; for a belief of an import its importer''s last one, or that of the last event naming it';
