-- A day of hours, or a fleet of hosts: rows of roll_up.sql add up. Shares follow from the sums.
--
--   duckdb -c "SET VARIABLE rolled = 'hours/*.parquet';" -c ".read add_up.sql"
WITH added AS (
  SELECT name, kind, path, any_value(function) AS function, sum(count) AS count, sum(x) AS x,
    sum(xt) AS xt, sum(n) FILTER (kind = 'function' AND NOT contains(path, ' > ')) AS n
  FROM read_parquet(getvariable('rolled')) GROUP BY name, kind, path
), whole AS (
  SELECT name, n, x AS t, xt AS tt FROM added WHERE NOT contains(path, ' > ') AND n IS NOT NULL
)
SELECT a.name, a.path, a.x / w.n AS mean_ns,
  (a.xt / w.n - (a.x / w.n) * (w.t / w.n)) / (w.tt / w.n - (w.t / w.n) ** 2) AS share
FROM added a JOIN whole w ON w.name = a.name
ORDER BY share DESC;
