-- needs: beliefs
-- like: beliefs
CREATE OR REPLACE MACRO active_at(ts) AS TABLE SELECT * FROM beliefs_at(ts) WHERE status = 'active';
COMMENT ON MACRO TABLE active_at IS 'What was believed at a moment (ms since 1970 UTC, a TIMESTAMP, or text of either); candidates are not in it';

CREATE OR REPLACE MACRO live_at(ts) AS TABLE SELECT * FROM beliefs_at(ts) WHERE status IN ('active', 'candidate');
COMMENT ON MACRO TABLE live_at IS 'What was believed at a moment, or a candidate to be';

CREATE OR REPLACE VIEW active_set AS SELECT * FROM beliefs WHERE status = 'active';
COMMENT ON VIEW active_set IS 'What is believed at meta.as_of_ms: the active beliefs; candidates are not in it';
