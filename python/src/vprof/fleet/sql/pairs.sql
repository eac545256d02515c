-- A place and what is around it: first what it is directly in, then what that is in, and so on.
SELECT recording, parent AS at, parent_function AS above, function AS below, TRUE AS direct,
  kind IN ('function', 'blame', 'body') AS plain
FROM placed WHERE place > 0 AND NOT of_closed
UNION ALL
SELECT b.recording, p.parent AS at, p.parent_function AS above, b.below, FALSE AS direct,
  b.plain AND p.kind IN ('function', 'blame') AS plain
FROM pairs b JOIN placed p ON p.recording = b.recording AND p.place = b.at
WHERE p.place > 0
