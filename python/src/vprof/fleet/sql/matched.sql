-- The variance by how well the places that hold it are matched between hosts and versions. Leaves
-- only, so the rows add up to the latency.
WITH unit AS (
  SELECT recording, max(host || chr(10) || version) AS unit FROM batches GROUP BY recording
), paths AS (
  SELECT p.same, count(DISTINCT u.unit) AS units
  FROM placed p JOIN unit u ON u.recording = p.recording GROUP BY p.same
), functions AS (
  SELECT p.function, count(DISTINCT u.unit) AS units
  FROM placed p JOIN unit u ON u.recording = p.recording GROUP BY p.function
), leaves AS (
  SELECT p.recording, p.place,
    CASE WHEN o.function IS NOT NULL THEN 'not_broken_down'
      WHEN a.units = (SELECT count(DISTINCT unit) FROM unit) THEN 'path_everywhere'
      WHEN a.units > 1 THEN 'path'
      WHEN f.units > 1 THEN 'function'
      ELSE 'alone' END AS how
  FROM placed p
  JOIN paths a ON a.same = p.same
  JOIN functions f ON f.function = p.function
  LEFT JOIN (SELECT DISTINCT function FROM placed WHERE expanded) o
    ON o.function = CASE WHEN p.closed THEN p.function
      WHEN p.of_closed THEN p.parent_function END
  WHERE p.leaf
)
SELECT l.how, sum(s.x) AS x, sum(s.xt) AS xt
FROM sums s
JOIN batches b ON s.recording = b.recording AND s.name = b.name AND s.batch = b.batch
  AND b.label IS NOT DISTINCT FROM {label}
JOIN leaves l ON l.recording = s.recording AND l.place = s.place
WHERE {of_sums}
GROUP BY l.how
