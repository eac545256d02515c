-- A row per place: which function it is one of, wherever it was recorded.
--
-- A function is its name and the file of its definition, without the line, which moves from build
-- to build; the own time of a function is in the file of that function. The body of
-- a function that is not broken down (`of_closed`) is all of it but for preemption and waits.
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
