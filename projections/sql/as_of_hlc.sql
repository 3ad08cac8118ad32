-- The last stamp of a moment. Takes ms since 1970 UTC, a TIMESTAMP (UTC), or text of either; a TIMESTAMPTZ or an
-- offset in the text is honoured. The cast to TIMESTAMPTZ sees texts that carry their offset only.
CREATE OR REPLACE MACRO as_of_ms(ts) AS CASE
    WHEN ts IS NULL THEN NULL
    WHEN regexp_full_match(CAST(ts AS VARCHAR), '\s*[+-]?[0-9]{1,18}\s*') THEN CAST(trim(CAST(ts AS VARCHAR)) AS BIGINT)
    WHEN regexp_matches(CAST(ts AS VARCHAR), ':.*([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)\s*$')
        THEN epoch_us(CAST(CAST(ts AS VARCHAR) AS TIMESTAMPTZ)) // 1000
    ELSE epoch_us(CAST(CAST(ts AS VARCHAR) AS TIMESTAMP)) // 1000
END;
COMMENT ON MACRO as_of_ms IS 'A moment (ms since 1970 UTC, a TIMESTAMP, or text of either) in ms since 1970 UTC';

CREATE OR REPLACE MACRO as_of_hlc(ts) AS CASE
    WHEN as_of_ms(ts) >= 140737488355327 THEN 9223372036854775806
    WHEN as_of_ms(ts) < 0 THEN -1
    ELSE as_of_ms(ts) * 65536 + 65535
END;
COMMENT ON MACRO as_of_hlc IS 'The last stamp of a moment: what holds then is since_hlc <= as_of_hlc(ts) < until_hlc';
