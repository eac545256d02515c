-- The latencies of recordings that may hide a part of a function.
SELECT r.host, r.version, r.slice, r.grp, h.function, CAST(sum(r.n) AS BIGINT) AS n, sum(r.t) AS t,
  sum(r.tt) AS tt
FROM roots r JOIN hidden h ON r.recording = h.recording
GROUP BY r.host, r.version, r.slice, r.grp, h.function
