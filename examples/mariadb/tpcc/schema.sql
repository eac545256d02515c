-- The nine tables of TPC-C (1.3), without foreign keys, as TPC-C allows.
CREATE TABLE warehouse (
  w_id int PRIMARY KEY, w_name varchar(10), w_street varchar(20), w_city varchar(20), w_state char(2), w_zip char(9),
  w_tax decimal(4, 4), w_ytd decimal(12, 2)
);
CREATE TABLE district (
  d_id int, d_w_id int, d_name varchar(10), d_street varchar(20), d_city varchar(20), d_state char(2), d_zip char(9),
  d_tax decimal(4, 4), d_ytd decimal(12, 2), d_next_o_id int, PRIMARY KEY (d_w_id, d_id)
);
CREATE TABLE customer (
  c_id int, c_d_id int, c_w_id int, c_first varchar(16), c_middle char(2), c_last varchar(16), c_street varchar(20),
  c_city varchar(20), c_state char(2), c_zip char(9), c_phone char(16), c_since datetime, c_credit char(2),
  c_credit_lim decimal(12, 2), c_discount decimal(4, 4), c_balance decimal(12, 2), c_ytd_payment decimal(12, 2),
  c_payment_cnt int, c_delivery_cnt int, c_data varchar(500),
  PRIMARY KEY (c_w_id, c_d_id, c_id), KEY customer_name (c_w_id, c_d_id, c_last, c_first)
);
CREATE TABLE history (
  h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date datetime, h_amount decimal(6, 2),
  h_data varchar(24)
);
CREATE TABLE orders (
  o_id int, o_d_id int, o_w_id int, o_c_id int, o_entry_d datetime, o_carrier_id int, o_ol_cnt int, o_all_local int,
  PRIMARY KEY (o_w_id, o_d_id, o_id), KEY orders_customer (o_w_id, o_d_id, o_c_id, o_id)
);
CREATE TABLE new_order (no_o_id int, no_d_id int, no_w_id int, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE order_line (
  ol_o_id int, ol_d_id int, ol_w_id int, ol_number int, ol_i_id int, ol_supply_w_id int, ol_delivery_d datetime,
  ol_quantity int, ol_amount decimal(6, 2), ol_dist_info char(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
CREATE TABLE item (i_id int PRIMARY KEY, i_im_id int, i_name varchar(24), i_price decimal(5, 2), i_data varchar(50));
CREATE TABLE stock (
  s_i_id int, s_w_id int, s_quantity int, s_dist varchar(240), s_ytd int, s_order_cnt int, s_remote_cnt int,
  s_data varchar(50), PRIMARY KEY (s_w_id, s_i_id)
);

-- A customer's last name from its number (4.3.2.3).
CREATE FUNCTION last_name(number int) RETURNS varchar(16) DETERMINISTIC RETURN concat(
  elt(number DIV 100 MOD 10 + 1, 'BAR', 'OUGHT', 'ABLE', 'PRI', 'PRES', 'ESE', 'ANTI', 'CALLY', 'ATION', 'EING'),
  elt(number DIV 10 MOD 10 + 1, 'BAR', 'OUGHT', 'ABLE', 'PRI', 'PRES', 'ESE', 'ANTI', 'CALLY', 'ATION', 'EING'),
  elt(number MOD 10 + 1, 'BAR', 'OUGHT', 'ABLE', 'PRI', 'PRES', 'ESE', 'ANTI', 'CALLY', 'ATION', 'EING'));
