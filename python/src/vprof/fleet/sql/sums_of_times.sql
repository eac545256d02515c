-- What `sums` would have, from single intervals: for slices that roll-ups do not have. An interval
-- counts as often as its weight says.
WITH counted AS (
  SELECT i.recording, i.name, i.interval, i.interval >> r.batch_shift AS batch, i.label, i.begin,
    i.latency_ns, CAST(i.weight AS BIGINT) AS weight
  FROM intervals i JOIN recordings r ON i.recording = r.recording AND i.name = r.name
  WHERE {of_recording_r} AND {of_interval}
), spans AS (
  SELECT recording, name, batch, min(begin) AS begin, max(begin) AS until
  FROM counted GROUP BY recording, name, batch
), latency AS (
  SELECT recording, name, batch, CAST(0 AS INT) AS place, label, sum(weight) AS n,
    sum(weight) AS count, sum(CAST(latency_ns AS DECIMAL(38, 0)) * weight) AS x,
    sum(CAST(latency_ns AS DECIMAL(38, 0)) * latency_ns * weight) AS xx
  FROM counted GROUP BY recording, name, batch, label
), own AS (
  SELECT t.recording, t.name, t.interval, b.place, t.self_ns AS ns
  FROM times t JOIN places b ON b.recording = t.recording AND b.parent = t.place
  WHERE b.kind = 'body' AND t.self_ns > 0
), below AS (
  SELECT t.recording, t.name, c.batch, t.place, c.label, sum(c.weight) AS count,
    sum(CAST(t.ns AS DECIMAL(38, 0)) * c.weight) AS x,
    sum(CAST(t.ns AS DECIMAL(38, 0)) * t.ns * c.weight) AS xx,
    sum(CAST(t.ns AS DECIMAL(38, 0)) * c.latency_ns * c.weight) AS xt
  FROM (
    SELECT recording, name, interval, place, total_ns AS ns FROM times WHERE place > 0
    UNION ALL SELECT recording, name, interval, place, ns FROM own) t
  JOIN counted c
    ON c.recording = t.recording AND c.name = t.name AND c.interval = t.interval
  GROUP BY t.recording, t.name, c.batch, t.place, c.label
)
SELECT a.recording, a.name, a.batch, a.place, a.label, s.begin, s.until,
  CAST(a.n AS BIGINT) AS n, CAST(a.count AS BIGINT) AS count, a.x, a.xx, a.xx AS xt
FROM latency a JOIN spans s ON s.recording = a.recording AND s.name = a.name AND s.batch = a.batch
UNION ALL
SELECT p.recording, p.name, p.batch, p.place, p.label, s.begin, s.until,
  CAST(l.n AS BIGINT), CAST(p.count AS BIGINT), p.x, p.xx, p.xt
FROM below p
JOIN spans s ON s.recording = p.recording AND s.name = p.name AND s.batch = p.batch
JOIN latency l ON l.recording = p.recording AND l.name = p.name AND l.batch = p.batch
  AND l.label IS NOT DISTINCT FROM p.label
