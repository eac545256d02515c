-- Which function was seen below which, in any recording, and whether directly.
WITH RECURSIVE pairs AS (
  SELECT recording, parent AS at, parent_function AS above, function AS below, TRUE AS direct
  FROM placed WHERE place > 0
  UNION ALL
  SELECT b.recording, p.parent AS at, p.parent_function AS above, b.below, FALSE AS direct
  FROM pairs b JOIN placed p ON p.recording = b.recording AND p.place = b.at
  WHERE p.place > 0
)
SELECT above, below, max(direct) AS direct
FROM pairs WHERE above <> below AND above <> '' GROUP BY above, below
