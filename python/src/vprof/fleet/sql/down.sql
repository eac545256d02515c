-- Places from the interval down: the first query has the intervals, the second one what is directly
-- below the rows that came last. `same` is equal for places that are the same by docs/tables.md.
-- Line feeds separate names, since no name has one.
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
