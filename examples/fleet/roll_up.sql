-- Hours of minutes, or days of hours: the sums of many recordings in one file, exact. For DuckDB:
--
--   duckdb -c "SET VARIABLE vprof = '/var/lib/vprof'; SET VARIABLE hour = '2026-11-24 12';
--              SET VARIABLE out = 'hour.parquet';" -c ".read roll_up.sql"
--
-- A row is a place of the tree, by its path, of one host, version and label, over one hour. Sums of
-- rows with equal path and name are sums over their union, so days are made of hours, and fleets of
-- hosts, with the second query.
COPY (
  WITH counted AS (
    SELECT recording, name, host, program, version FROM read_parquet(
      getvariable('vprof') || '/recordings/*/*/*.parquet', hive_types_autocast = false)
  ), hours AS (
    SELECT recording, name, batch,
      substr(CAST(make_timestamp(epoch_us(min("begin"))) AS VARCHAR), 1, 13) AS hour
    FROM read_parquet(getvariable('vprof') || '/sums/*/*/*.parquet', hive_types_autocast = false)
    WHERE place = 0 GROUP BY recording, name, batch
  )
  SELECT c.host, c.program, c.version, c.name, h.hour, s.label, p.kind, p.path,
    any_value(p.function) AS function, max(p.file) AS file, max(p.line) AS line,
    CAST(sum(s.n) AS BIGINT) AS n, CAST(sum(s.count) AS BIGINT) AS count,
    sum(s.x) AS x, sum(s.xx) AS xx, sum(s.xt) AS xt
  FROM read_parquet(getvariable('vprof') || '/sums/*/*/*.parquet', hive_types_autocast = false) s
  JOIN counted c ON c.recording = s.recording AND c.name = s.name
  JOIN hours h ON h.recording = s.recording AND h.name = s.name AND h.batch = s.batch
  JOIN read_parquet(getvariable('vprof') || '/places/*/*/*.parquet', hive_types_autocast = false) p
    ON p.recording = s.recording AND p.place = s.place
  WHERE h.hour = getvariable('hour')
  GROUP BY ALL
) TO (getvariable('out')) (FORMAT parquet, COMPRESSION zstd);
