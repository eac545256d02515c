-- A row per batch of the intervals that count: what it belongs to, and its group of the jackknife.
--
-- The batches of a host, version and slice, in order of time, make {groups} groups of consecutive
-- batches.
WITH counted AS (
  SELECT recording, name, host, CASE WHEN version = '' THEN '-' ELSE version END AS version
  FROM recordings
  WHERE name = {name} AND {of_recording}
), found AS (
  SELECT DISTINCT c.recording, c.name, c.host, c.version, s.batch, s.begin,
    CAST(CAST(s.begin AS DATE) AS STRING) AS day,
    substr(CAST(s.begin AS STRING), 1, 13) AS hour,
    {label} AS label
  FROM sums s JOIN counted c ON s.recording = c.recording AND s.name = c.name
  WHERE s.place = 0 AND {of_batch}
), sliced AS (
  SELECT *, {slice} AS slice FROM found
)
SELECT recording, name, host, version, batch, label, slice, begin,
  CAST(ntile({groups}) OVER (
    PARTITION BY host, version, slice ORDER BY begin, recording, batch) AS INT) - 1 AS grp
FROM sliced
