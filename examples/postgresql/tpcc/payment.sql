-- TPC-C 2.5, Payment: all payments of a warehouse update its one row. 60 % of the customers are
-- found by name, 15 % belong to another warehouse.
\set w random(1, :warehouses)
\set d random(1, 10)
\set remote random(1, 100)
\set cw CASE WHEN :remote <= 15 THEN random(1, :warehouses) ELSE :w END
\set cd CASE WHEN :remote <= 15 THEN random(1, 10) ELSE :d END
\set by_name random(1, 100)
\set name ((random(0, 255) | random(0, :names - 1)) + 223) % :names
\set c ((random(0, 1023) | random(1, :customers)) + 259) % :customers + 1
\set amount random(100, 500000)
-- Finds the customer first, before anything is locked.
BEGIN\; SET LOCAL application_name = 'payment';
\if :by_name <= 60
SELECT c_id AS c FROM customer WHERE c_w_id = :cw AND c_d_id = :cd AND c_last = last_name(:name) ORDER BY c_first
  OFFSET (SELECT (count(*) - 1) / 2 FROM customer WHERE c_w_id = :cw AND c_d_id = :cd AND c_last = last_name(:name)) LIMIT 1 \gset
\endif
UPDATE warehouse SET w_ytd = w_ytd + :amount / 100.0 WHERE w_id = :w
  RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip\;
UPDATE district SET d_ytd = d_ytd + :amount / 100.0 WHERE d_w_id = :w AND d_id = :d
  RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip\;
UPDATE customer SET
    c_balance = c_balance - :amount / 100.0, c_ytd_payment = c_ytd_payment + :amount / 100.0, c_payment_cnt = c_payment_cnt + 1,
    c_data = CASE WHEN c_credit = 'BC' THEN left(format('%s %s %s %s %s %s|', c_id, c_d_id, c_w_id, :d, :w, :amount) || c_data, 500)
      ELSE c_data END
  WHERE c_w_id = :cw AND c_d_id = :cd AND c_id = :c
  RETURNING c_first, c_middle, c_last, c_credit, c_balance\;
INSERT INTO history VALUES (:c, :cd, :cw, :d, :w, now(), :amount / 100.0, 'payment')\;
COMMIT;
