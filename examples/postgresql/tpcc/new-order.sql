-- TPC-C 2.4, New-Order: a customer orders 5 to 15 items. One order in a hundred goes to another
-- warehouse, one is invalid and rolled back. Commands that need no answer share a message, as in a
-- stored procedure.
\set w random(1, :warehouses)
\set d random(1, 10)
-- NURand (2.1.6)
\set c ((random(0, 1023) | random(1, :customers)) + 259) % :customers + 1
\set lines random(5, 15)
\set remote random(1, 100)
\set supplier CASE WHEN :remote = 1 THEN random(1, :warehouses) ELSE :w END
\set wrong random(1, 100)
\set i1 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i2 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i3 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i4 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i5 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i6 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i7 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i8 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i9 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i10 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i11 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i12 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i13 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i14 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
\set i15 ((random(0, 8191) | random(1, :items)) + 7911) % :items + 1
BEGIN\; SET LOCAL application_name = 'new-order'\;
SELECT w_tax FROM warehouse WHERE w_id = :w\;
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w AND d_id = :d RETURNING d_tax, d_next_o_id - 1 AS o \gset
\if :wrong = 1
ROLLBACK;
\else
-- Locks the stock in order, so that two orders of the same items cannot deadlock.
SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c\;
INSERT INTO orders VALUES (:o, :d, :w, :c, now(), NULL, :lines, CASE WHEN :supplier = :w THEN 1 ELSE 0 END)\;
INSERT INTO new_order VALUES (:o, :d, :w)\;
SELECT s_i_id, s_quantity, s_data, i_price, i_name, i_data
  FROM stock JOIN item ON i_id = s_i_id
  WHERE s_w_id = :supplier AND s_i_id IN
    (SELECT i FROM (VALUES (1, :i1), (2, :i2), (3, :i3), (4, :i4), (5, :i5), (6, :i6), (7, :i7), (8, :i8),
      (9, :i9), (10, :i10), (11, :i11), (12, :i12), (13, :i13), (14, :i14), (15, :i15)) AS v (n, i) WHERE n <= :lines)
  ORDER BY s_i_id FOR UPDATE OF stock\;
UPDATE stock SET
    s_quantity = CASE WHEN s_quantity >= 15 THEN s_quantity - 5 ELSE s_quantity + 86 END,
    s_ytd = s_ytd + 5, s_order_cnt = s_order_cnt + 1,
    s_remote_cnt = s_remote_cnt + CASE WHEN :supplier = :w THEN 0 ELSE 1 END
  WHERE s_w_id = :supplier AND s_i_id IN
    (SELECT i FROM (VALUES (1, :i1), (2, :i2), (3, :i3), (4, :i4), (5, :i5), (6, :i6), (7, :i7), (8, :i8),
      (9, :i9), (10, :i10), (11, :i11), (12, :i12), (13, :i13), (14, :i14), (15, :i15)) AS v (n, i) WHERE n <= :lines)\;
INSERT INTO order_line
  SELECT :o, :d, :w, n, i, :supplier, NULL, 5, 5 * i_price, s_dist[:d]
  FROM (VALUES (1, :i1), (2, :i2), (3, :i3), (4, :i4), (5, :i5), (6, :i6), (7, :i7), (8, :i8),
      (9, :i9), (10, :i10), (11, :i11), (12, :i12), (13, :i13), (14, :i14), (15, :i15)) AS v (n, i)
    JOIN item ON i_id = i JOIN stock ON s_w_id = :supplier AND s_i_id = i
  WHERE n <= :lines\;
COMMIT;
\endif
