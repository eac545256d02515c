-- Sums of each function over its outermost places, by host, version, slice and group. A function
-- has no figures from a recording that may hide a part of it.
WITH of_places AS (
  SELECT b.host, b.version, b.slice, b.grp, p.function,
    CAST(s.count AS BIGINT) AS count, s.x, s.xt, s.xx
  FROM sums s
  JOIN batches b ON s.recording = b.recording AND s.name = b.name AND s.batch = b.batch
    AND b.label IS NOT DISTINCT FROM {label}
  JOIN placed p ON p.recording = s.recording AND p.place = s.place
  LEFT JOIN hidden h ON h.recording = s.recording AND h.function = p.function
  WHERE s.place > 0 AND p.outermost AND h.recording IS NULL AND {of_sums}
  UNION ALL
  SELECT b.host, b.version, b.slice, b.grp, p.function,
    CAST(0 AS BIGINT) AS count, CAST(0 AS DECIMAL(38, 0)) AS x, CAST(0 AS DECIMAL(38, 0)) AS xt,
    s.xy AS xx
  FROM products s
  JOIN (SELECT DISTINCT recording, name, batch, host, version, slice, grp FROM batches) b
    ON s.recording = b.recording AND s.name = b.name AND s.batch = b.batch
  JOIN placed p ON p.recording = s.recording AND p.place = s.a
  LEFT JOIN hidden h ON h.recording = s.recording AND h.function = p.function
  WHERE s.a = s.b AND p.outermost AND h.recording IS NULL AND {with_products}
)
SELECT host, version, slice, grp, function, CAST(sum(count) AS BIGINT) AS count, sum(x) AS x,
  sum(xt) AS xt, sum(xx) AS xx
FROM of_places
GROUP BY host, version, slice, grp, function
