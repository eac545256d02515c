-- Fills the tables (TPC-C 4.3.3). Variables: @warehouses; @items (TPC-C: 100,000); @customers, and as
-- many orders, per district (TPC-C: 3,000). The random seed is fixed, so that all loads are alike.
SET rand_seed1 = 42, rand_seed2 = 4242, max_recursive_iterations = 1000000, unique_checks = 0;

CREATE TABLE number (n int PRIMARY KEY);
INSERT INTO number
WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < greatest(@items, @customers, 15))
SELECT n FROM count;

BEGIN;
INSERT INTO item
SELECT n, 1 + rand() * 9999, concat('item ', n), 1 + rand() * 99, concat(if(rand() < 0.1, 'ORIGINAL ', ''), md5(n))
FROM number WHERE n <= @items;

INSERT INTO warehouse
SELECT n, concat('w', n), 'street', 'city', 'MI', '123411111', rand() * 0.2, 300000 FROM number WHERE n <= @warehouses;

INSERT INTO stock
SELECT n, w_id, 10 + rand() * 90, repeat(substr(md5(n), 1, 24), 10), 0, 0, 0, md5(concat(w_id, '.', n))
FROM warehouse JOIN number ON n <= @items ORDER BY w_id, n;

INSERT INTO district
SELECT n, w_id, concat('d', n), 'street', 'city', 'MI', '123411111', rand() * 0.2, 30000, @customers + 1
FROM warehouse JOIN number ON n <= 10;

INSERT INTO customer
SELECT n, d_id, d_w_id, substr(md5(rand()), 1, 16), 'OE', last_name((n - 1) MOD 1000), 'street', 'city', 'MI',
  '123411111', '0123456789012345', now(), if(rand() < 0.1, 'BC', 'GC'), 50000, rand() * 0.5, -10, 10, 1, 0,
  repeat(md5(n), 10)
FROM district JOIN number ON n <= @customers ORDER BY d_w_id, d_id, n;

INSERT INTO history
SELECT c_id, c_d_id, c_w_id, c_d_id, c_w_id, now(), 10, 'history' FROM customer;
COMMIT;

BEGIN;
-- Each customer of a district has one order, in random order. The last 30 % are not delivered yet.
INSERT INTO orders
SELECT o_id, d, w, c, now(), if(o_id > @customers * 7 / 10, NULL, 1 + floor(rand() * 10)), 5 + floor(rand() * 11), 1
FROM (SELECT row_number() OVER (PARTITION BY c_w_id, c_d_id ORDER BY rand()) AS o_id, c_d_id AS d, c_w_id AS w, c_id AS c
  FROM customer) AS shuffled
ORDER BY w, d, o_id;
INSERT INTO new_order SELECT o_id, o_d_id, o_w_id FROM orders WHERE o_carrier_id IS NULL;

INSERT INTO order_line
SELECT o_id, o_d_id, o_w_id, n, 1 + floor(rand() * @items), o_w_id, if(o_carrier_id IS NULL, NULL, o_entry_d), 5,
  if(o_carrier_id IS NULL, 0.01 + rand() * 9999, 0), 'dist info'
FROM orders JOIN number ON n <= o_ol_cnt ORDER BY o_w_id, o_d_id, o_id, n;
COMMIT;

DROP TABLE number;
ANALYZE TABLE warehouse, district, customer, history, orders, new_order, order_line, item, stock;
