-- A row per batch of the intervals that count: what it belongs to, and its group of the jackknife.
--
-- The batches of a host, version and slice, in order of time, make {groups} groups of consecutive
-- batches.
WITH counted AS (
  SELECT recording, name, host, CASE WHEN version = '' THEN '-' ELSE version END AS version
  FROM recordings
  WHERE name = {name} AND {of_recording}
), found AS (
  SELECT c.recording, c.name, c.host, c.version, s.batch, {label} AS label, min(s.begin) AS begin
  FROM (SELECT *, min(begin) OVER (PARTITION BY recording, name, batch) AS first FROM sums
    WHERE place = 0) s
  JOIN counted c ON s.recording = c.recording AND s.name = c.name
  WHERE {of_batch}
  GROUP BY c.recording, c.name, c.host, c.version, s.batch, {label}
), sliced AS (
  SELECT *, {slice} AS slice
  FROM (SELECT *, {day} AS day, {hour} AS hour FROM found) AS dated
)
SELECT recording, name, host, version, batch, label, slice, begin,
  CAST(ntile({groups}) OVER (
    PARTITION BY host, version, slice ORDER BY begin, recording, batch) AS INT) - 1 AS grp
FROM sliced
