-- The functions that a recording may have without showing all of them: below a function that it
-- does not break down, while another recording does and saw them there.
SELECT DISTINCT p.recording, i.below AS function
FROM placed p JOIN inside i ON p.function = i.above
WHERE p.closed
