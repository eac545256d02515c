-- Which function was seen below which, in any recording: directly, and without a wait in between.
SELECT above, below, max(direct) AS direct, max(plain) AS plain
FROM pairs WHERE above <> below AND above <> '' GROUP BY above, below
