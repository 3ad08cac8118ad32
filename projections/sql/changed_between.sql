-- needs: beliefs
CREATE OR REPLACE MACRO changed_between(earlier, later) AS TABLE
SELECT
    coalesce(b.belief_id, a.belief_id) AS belief_id,
    coalesce(b.statement, a.statement) AS statement,
    a.status AS status_before,
    b.status AS status_after,
    a.stale AS stale_before,
    b.stale AS stale_after,
    a.contested AS contested_before,
    b.contested AS contested_after,
    a.forked AS forked_before,
    b.forked AS forked_after,
    b.ended_by,
    coalesce(b.kind, a.kind) AS kind,
    coalesce(b.speech_act, a.speech_act) AS speech_act,
    coalesce(b.agent, a.agent) AS agent,
    coalesce(b.began_ms, a.began_ms) AS began_ms,
    b.since_hlc >> 16 AS changed_ms
FROM beliefs_at(earlier) AS a
FULL JOIN beliefs_at(later) AS b ON b.belief_id = a.belief_id
WHERE a.status IS DISTINCT FROM b.status
    OR a.stale IS DISTINCT FROM b.stale
    OR a.contested IS DISTINCT FROM b.contested
    OR a.forked IS DISTINCT FROM b.forked
    OR a.ended_by IS DISTINCT FROM b.ended_by;
COMMENT ON MACRO TABLE changed_between IS 'Beliefs that stand otherwise at a later moment than at an earlier one: status, cause or a flag; NULL before the extraction';
