-- The places of the recordings that count.
SELECT p.recording, p.place, p.parent, p.kind, p.file, p.function, p.position, p.site, p.line,
  p.height, p.expandable, p.expanded, split_part(p.key, '@', 1) AS key_name
FROM places p JOIN (SELECT DISTINCT recording FROM batches) b ON p.recording = b.recording
