-- TPC-C 2.7, Delivery: the oldest undelivered order of each of a warehouse's districts.
-- LIMIT tells the planner that there are no more. Without it, its estimate grows with the tables,
-- and after a minute of load it reads all lines of a warehouse for a hash join.
\set w random(1, :warehouses)
\set carrier random(1, 10)
BEGIN\; SET LOCAL application_name = 'delivery'\;
-- Deliveries of one warehouse take turns.
SELECT pg_advisory_xact_lock(:w)\;
WITH gone AS (
    DELETE FROM new_order
      USING (SELECT d, (SELECT min(no_o_id) FROM new_order WHERE no_w_id = :w AND no_d_id = d) AS o
             FROM generate_series(1, 10) d) AS oldest
      WHERE no_w_id = :w AND no_d_id = d AND no_o_id = o
      RETURNING no_d_id, no_o_id),
  ten AS (SELECT * FROM gone LIMIT 10),
  delivered AS (
    UPDATE orders SET o_carrier_id = :carrier FROM ten WHERE o_w_id = :w AND o_d_id = no_d_id AND o_id = no_o_id
      RETURNING o_d_id, o_c_id),
  lines AS (
    UPDATE order_line SET ol_delivery_d = now() FROM ten WHERE ol_w_id = :w AND ol_d_id = no_d_id AND ol_o_id = no_o_id
      RETURNING ol_d_id, ol_amount)
UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
  FROM delivered JOIN (SELECT ol_d_id, sum(ol_amount) AS total FROM lines GROUP BY ol_d_id) AS sums ON ol_d_id = o_d_id
  WHERE c_w_id = :w AND c_d_id = o_d_id AND c_id = o_c_id\;
COMMIT;
