-- Fills the tables (TPC-C 4.3.3). Variables: warehouses; items (TPC-C: 100,000); customers, and as
-- many orders, per district (TPC-C: 3,000). The random seed is fixed, so that all loads are alike.
SELECT setseed(0.42);
BEGIN;

INSERT INTO item
SELECT i, 1 + random() * 9999, 'item ' || i, 1 + random() * 99, CASE WHEN random() < 0.1 THEN 'ORIGINAL ' ELSE '' END || md5(i::text)
FROM generate_series(1, :items) i;

INSERT INTO warehouse
SELECT w, 'w' || w, 'street', 'street', 'city', 'MI', '123411111', random() * 0.2, 300000
FROM generate_series(1, :warehouses) w;

INSERT INTO stock
SELECT i, w, 10 + random() * 90, array_fill(substr(md5(i::text), 1, 24), ARRAY[10]), 0, 0, 0, md5(w || '.' || i)
FROM generate_series(1, :warehouses) w, generate_series(1, :items) i;

INSERT INTO district
SELECT d, w, 'd' || d, 'street', 'street', 'city', 'MI', '123411111', random() * 0.2, 30000, :customers + 1
FROM generate_series(1, :warehouses) w, generate_series(1, 10) d;

INSERT INTO customer
SELECT c, d, w, md5(random()::text)::varchar(16), 'OE', last_name(((c - 1) % 1000)), 'street', 'street', 'city', 'MI',
  '123411111', '0123456789012345', now(), CASE WHEN random() < 0.1 THEN 'BC' ELSE 'GC' END, 50000, random() * 0.5, -10, 10,
  1, 0, repeat(md5(c::text), 10)
FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, :customers) c;

INSERT INTO history
SELECT c_id, c_d_id, c_w_id, c_d_id, c_w_id, now(), 10, 'history' FROM customer;

-- Each customer of a district has one order, in random order. The last 30 % are not delivered yet.
INSERT INTO orders
SELECT row_number() OVER (PARTITION BY c_w_id, c_d_id ORDER BY random()), c_d_id, c_w_id, c_id, now(), 1 + random() * 9,
  5 + random() * 10, 1
FROM customer;
UPDATE orders SET o_carrier_id = NULL WHERE o_id > :customers * 7 / 10;
INSERT INTO new_order SELECT o_id, o_d_id, o_w_id FROM orders WHERE o_carrier_id IS NULL;

INSERT INTO order_line
SELECT o_id, o_d_id, o_w_id, n, 1 + floor(random() * :items), o_w_id,
  CASE WHEN o_carrier_id IS NULL THEN NULL ELSE o_entry_d END, 5,
  CASE WHEN o_carrier_id IS NULL THEN 0.01 + random() * 9999 ELSE 0 END, 'dist info'
FROM orders, generate_series(1, o_ol_cnt) n;

COMMIT;
