-- The sums over all hosts and versions, by slice, group and function. Function '' is the interval:
-- its xx and xt are the sum of squares of the latency.
SELECT slice, grp, function, CAST(sum(n) AS BIGINT) AS n, CAST(sum(count) AS BIGINT) AS count,
  sum(x) AS x, sum(xt) AS xt, sum(xx) AS xx, sum(t) AS t, sum(tt) AS tt
FROM (
  SELECT slice, grp, CAST('' AS STRING) AS function, n, n AS count, t AS x, tt AS xt, tt AS xx,
    t, tt
  FROM roots
  UNION ALL
  SELECT slice, grp, function, CAST(0 AS BIGINT), count, x, xt, xx, CAST(0 AS DECIMAL(38, 0)),
    CAST(0 AS DECIMAL(38, 0))
  FROM parts
  UNION ALL
  -- Of a function: the latencies of the recordings that do not show all of it.
  SELECT slice, grp, function, n, CAST(0 AS BIGINT), CAST(0 AS DECIMAL(38, 0)),
    CAST(0 AS DECIMAL(38, 0)), CAST(0 AS DECIMAL(38, 0)), t, tt
  FROM unseen
) AS added
GROUP BY slice, grp, function
