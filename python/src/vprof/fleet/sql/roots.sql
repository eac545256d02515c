-- Latencies: sums of the interval itself, by recording and group.
SELECT b.recording, b.host, b.version, b.slice, b.grp, CAST(sum(s.n) AS BIGINT) AS n,
  sum(s.x) AS t, sum(s.xx) AS tt
FROM sums s JOIN batches b
  ON s.recording = b.recording AND s.name = b.name AND s.batch = b.batch
  AND b.label IS NOT DISTINCT FROM {label}
WHERE s.place = 0 AND {of_sums}
GROUP BY b.recording, b.host, b.version, b.slice, b.grp
