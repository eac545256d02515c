-- TPC-C 2.6, Order-Status: a customer's last order. Read-only.
\set w random(1, :warehouses)
\set d random(1, 10)
\set by_name random(1, 100)
\set name ((random(0, 255) | random(0, :names - 1)) + 223) % :names
\set c ((random(0, 1023) | random(1, :customers)) + 259) % :customers + 1
BEGIN\; SET LOCAL application_name = 'order-status';
\if :by_name <= 60
SELECT c_id AS c FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_last = last_name(:name) ORDER BY c_first
  OFFSET (SELECT (count(*) - 1) / 2 FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_last = last_name(:name)) LIMIT 1 \gset
\endif
SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c\;
SELECT coalesce(max(o_id), 0) AS o FROM orders WHERE o_w_id = :w AND o_d_id = :d AND o_c_id = :c \gset
SELECT o_entry_d, o_carrier_id FROM orders WHERE o_w_id = :w AND o_d_id = :d AND o_id = :o\;
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
  WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o\;
COMMIT;
