-- A row per place: which function it is one of, wherever it was recorded.
--
-- A function is its name and the file of its definition, without the line, which moves from build
-- to build; the own time of a function is in the file of that function. Line feeds separate names,
-- since no name has one. `same` is equal for places that are the same by docs/tables.md. The body of a
-- function that is not broken down (`of_closed`) is that function itself, and no other one.
WITH RECURSIVE named AS (
  SELECT p.recording, p.place, p.parent, p.kind, p.file, p.function, p.position, p.site, p.line,
    p.height, p.expandable, p.expanded, split_part(p.key, '@', 1) AS key_name
  FROM places p JOIN (SELECT DISTINCT recording FROM batches) b ON p.recording = b.recording
), down AS (
  SELECT recording, place, CAST(-1 AS INT) AS parent, kind, file, CAST('' AS STRING) AS function,
    CAST(chr(10) AS STRING) AS above, CAST('' AS STRING) AS same,
    CAST('' AS STRING) AS parent_function
  FROM named WHERE parent IS NULL
  UNION ALL
  SELECT n.recording, n.place, n.parent, n.kind,
    CASE WHEN n.kind = 'body' THEN d.file ELSE n.file END AS file,
    n.function || '@' || CASE WHEN n.kind = 'body' THEN d.file ELSE n.file END AS function,
    d.above || d.function || chr(10) AS above,
    md5(d.same || chr(10) || n.kind || chr(10) || n.function || chr(10) || n.key_name || chr(10)
      || n.file || chr(10) || n.position) AS same,
    d.function AS parent_function
  FROM down d JOIN named n ON n.recording = d.recording AND n.parent = d.place
)
SELECT d.recording, d.place, d.parent, d.kind, d.function, d.parent_function, d.same,
  NOT contains(d.above, chr(10) || d.function || chr(10)) AS outermost,
  n.kind IN ('function', 'blame') AND NOT n.expanded AND d.place > 0 AS closed,
  n.kind = 'body' AND a.kind IN ('function', 'blame') AND NOT a.expanded AS of_closed,
  c.parent IS NULL AS leaf, n.expanded,
  n.function AS name, d.file, n.line, n.site, n.height
FROM down d
JOIN named n ON n.recording = d.recording AND n.place = d.place
LEFT JOIN named a ON a.recording = d.recording AND a.place = d.parent
LEFT JOIN (SELECT DISTINCT recording, parent FROM named) c
  ON c.recording = d.recording AND c.parent = d.place
