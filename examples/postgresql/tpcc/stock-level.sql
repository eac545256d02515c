-- TPC-C 2.8, Stock-Level: how many items of a district's last 20 orders are low in stock.
-- Read-only.
\set w random(1, :warehouses)
\set d random(1, 10)
\set threshold random(10, 20)
BEGIN\; SET LOCAL application_name = 'stock-level'\;
SELECT d_next_o_id AS next FROM district WHERE d_w_id = :w AND d_id = :d \gset
SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = :w AND s_i_id = ol_i_id
  WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id < :next AND ol_o_id >= :next - 20 AND s_quantity < :threshold\;
COMMIT;
