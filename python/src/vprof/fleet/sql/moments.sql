-- Of each host, version and function: mean and covariance with the latency, each with its standard
-- error: the jackknife that leaves out one group at a time (groups of unequal size: Busing, Meijer
-- and van der Leeden, 1999).
--
-- Sums are taken around whole numbers near the means of the fleet, exactly, and become floating
-- point only then.
WITH unit AS (
  SELECT host, version, grp, CAST(sum(n) AS BIGINT) AS n, sum(t) AS t, sum(tt) AS tt
  FROM roots GROUP BY host, version, grp
), every AS (
  SELECT DISTINCT u.host, u.version, u.grp, f.function, f.about, {about} AS about_t
  FROM unit u CROSS JOIN centres f
), one AS (
  SELECT e.host, e.version, e.grp, e.function, e.about, e.about_t,
    u.n - coalesce(h.n, CAST(0 AS BIGINT)) AS n,
    u.t - coalesce(h.t, CAST(0 AS DECIMAL(38, 0))) AS t,
    CASE WHEN e.function = '' THEN u.t ELSE coalesce(p.x, CAST(0 AS DECIMAL(38, 0))) END AS x,
    CASE WHEN e.function = '' THEN u.tt ELSE coalesce(p.xt, CAST(0 AS DECIMAL(38, 0))) END AS xt,
    coalesce(p.count, CAST(0 AS BIGINT)) AS count
  FROM every e
  JOIN unit u ON u.host = e.host AND u.version = e.version AND u.grp = e.grp
  LEFT JOIN (
    SELECT host, version, grp, function, sum(count) AS count, sum(x) AS x, sum(xt) AS xt
    FROM parts GROUP BY host, version, grp, function) p
    ON p.host = e.host AND p.version = e.version AND p.grp = e.grp AND p.function = e.function
  LEFT JOIN (
    SELECT host, version, grp, function, sum(n) AS n, sum(t) AS t
    FROM unseen GROUP BY host, version, grp, function) h
    ON h.host = e.host AND h.version = e.version AND h.grp = e.grp AND h.function = e.function
), shifted AS (
  SELECT host, version, grp, function, about, CAST(count AS DOUBLE) AS count,
    CAST(n AS DOUBLE) AS n,
    CAST(x - n * about AS DOUBLE) AS x,
    CAST(t - n * about_t AS DOUBLE) AS t,
    CAST(xt - about_t * x - about * t + n * about * about_t AS DOUBLE) AS xt
  FROM one WHERE n > 0
), whole AS (
  SELECT *,
    sum(count) OVER u AS all_count, sum(n) OVER u AS all_n, sum(x) OVER u AS all_x,
    sum(t) OVER u AS all_t, sum(xt) OVER u AS all_xt, count(*) OVER u AS k
  FROM shifted WINDOW u AS (PARTITION BY host, version, function)
), pseudo AS (
  SELECT *,
    all_x / all_n AS mean, all_xt / all_n - (all_x / all_n) * (all_t / all_n) AS cov,
    CASE WHEN k > 1 THEN (all_x - x) / (all_n - n) ELSE 0 END AS mean_without,
    CASE WHEN k > 1 THEN (all_xt - xt) / (all_n - n)
      - ((all_x - x) / (all_n - n)) * ((all_t - t) / (all_n - n)) ELSE 0 END AS cov_without
  FROM whole
), centred AS (
  SELECT *,
    k * mean - sum((1 - n / all_n) * mean_without) OVER v AS mean_centre,
    k * cov - sum((1 - n / all_n) * cov_without) OVER v AS cov_centre
  FROM pseudo WINDOW v AS (PARTITION BY host, version, function)
)
SELECT host, version, function, max(all_n) AS n, max(all_count) AS count, max(k) AS groups,
  max(mean) + CAST(max(about) AS DOUBLE) AS mean, max(cov) AS cov,
  CASE WHEN max(k) > 1 THEN sqrt(sum(power((all_n / n) * mean - (all_n / n - 1) * mean_without
    - mean_centre, 2) / (all_n / n - 1)) / max(k)) END AS mean_error,
  CASE WHEN max(k) > 1 THEN sqrt(sum(power((all_n / n) * cov - (all_n / n - 1) * cov_without
    - cov_centre, 2) / (all_n / n - 1)) / max(k)) END AS cov_error
FROM centred
GROUP BY host, version, function
