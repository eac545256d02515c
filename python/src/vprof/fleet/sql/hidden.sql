-- The functions that a recording may have without showing all of them: below a function that it
-- does not break down, while another recording does and saw them there. Waits are recorded, and what
-- they waited for, whatever is broken down.
SELECT DISTINCT p.recording, i.below AS function
FROM placed p
JOIN inside i ON p.function = i.above
JOIN (SELECT DISTINCT function FROM placed WHERE expanded) e ON e.function = p.function
WHERE p.closed AND i.plain
