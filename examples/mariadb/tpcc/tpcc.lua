-- The mix of TPC-C for sysbench: New-Order, Payment, Order-Status, Delivery and Stock-Level with the
-- minimum weights of TPC-C 5.2.3 (New-Order gets the rest). Every statement is a round trip, as in
-- OLTP-Bench, which the papers used. Each transaction begins with a savepoint that has its name: the
-- label in the reports.
sysbench.cmdline.options = {
  warehouses = {"Number of warehouses", 4},
  items = {"Number of items", 10000},
  customers = {"Customers per district", 300}
}

local random = sysbench.rand.uniform
local con, opt

function thread_init()
  opt = sysbench.opt
  con = sysbench.sql.driver():connect()
end

function thread_done()
  con:disconnect()
end

local function query(text, ...)
  return con:query(text:format(...))
end

local function row(text, ...)
  return con:query_row(text:format(...))
end

local function begin(kind)
  query("START TRANSACTION")
  query("SAVEPOINT `%s`", kind)
end

-- NURand (2.1.6)
local function nurand(a, c, low, high)
  return (bit.bor(random(0, a), random(low, high)) + c) % (high - low + 1) + low
end

local function customer()
  return nurand(1023, 259, 1, opt.customers)
end

-- 60 % of the customers are found by name: the one in the middle, by first name.
local function find_customer(w, d)
  if random(1, 100) > 60 then return customer() end
  local name = nurand(255, 223, 0, math.min(opt.customers, 1000) - 1)
  local found = query("SELECT c_id FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = last_name(%d) " ..
    "ORDER BY c_first", w, d, name)
  local middle = nil
  for _ = 1, math.ceil(found.nrows / 2) do middle = unpack(found:fetch_row(), 1, 1) end
  found:free()
  return tonumber(middle)
end

-- 2.4: a customer orders 5 to 15 items. One order in a hundred goes to another warehouse, one is
-- invalid and rolled back.
local function new_order()
  local w, d, c = random(1, opt.warehouses), random(1, 10), customer()
  local supplier = random(1, 100) == 1 and random(1, opt.warehouses) or w
  local wrong = random(1, 100) == 1
  -- Locks the stock in order, so that two orders of the same items cannot deadlock.
  local items, seen = {}, {}
  for _ = 1, random(5, 15) do
    local i = nurand(8191, 7911, 1, opt.items)
    if not seen[i] then items[#items + 1], seen[i] = i, true end
  end
  table.sort(items)

  begin("new-order")
  row("SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", w, d, c)
  row("SELECT w_tax FROM warehouse WHERE w_id = %d", w)
  local o = row("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = %d AND d_id = %d FOR UPDATE", w, d)
  query("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = %d AND d_id = %d", w, d)
  query("INSERT INTO orders VALUES (%d, %d, %d, %d, now(), NULL, %d, %d)", o, d, w, c, #items, supplier == w and 1 or 0)
  query("INSERT INTO new_order VALUES (%d, %d, %d)", o, d, w)
  local lines = {}
  for n, i in ipairs(items) do
    local price = row("SELECT i_price, i_name, i_data FROM item WHERE i_id = %d", i)
    local quantity, information = row("SELECT s_quantity, substr(s_dist, %d, 24), s_data FROM stock " ..
      "WHERE s_w_id = %d AND s_i_id = %d FOR UPDATE", (d - 1) * 24 + 1, supplier, i)
    quantity = tonumber(quantity)
    query("UPDATE stock SET s_quantity = %d, s_ytd = s_ytd + 5, s_order_cnt = s_order_cnt + 1, " ..
      "s_remote_cnt = s_remote_cnt + %d WHERE s_w_id = %d AND s_i_id = %d",
      quantity >= 15 and quantity - 5 or quantity + 86, supplier == w and 0 or 1, supplier, i)
    lines[n] = ("(%d, %d, %d, %d, %d, %d, NULL, 5, %.2f, '%s')"):format(o, d, w, n, i, supplier, 5 * price, information)
  end
  query("INSERT INTO order_line VALUES %s", table.concat(lines, ", "))
  query(wrong and "ROLLBACK" or "COMMIT")
end

-- 2.5: all payments of a warehouse update its one row. 15 % of the customers belong to another one.
local function payment()
  local w, d, amount = random(1, opt.warehouses), random(1, 10), random(100, 500000) / 100
  local cw, cd = w, d
  if random(1, 100) <= 15 then cw, cd = random(1, opt.warehouses), random(1, 10) end
  begin("payment")
  query("UPDATE warehouse SET w_ytd = w_ytd + %.2f WHERE w_id = %d", amount, w)
  row("SELECT w_name, w_street, w_city, w_state, w_zip FROM warehouse WHERE w_id = %d", w)
  query("UPDATE district SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", amount, w, d)
  row("SELECT d_name, d_street, d_city, d_state, d_zip FROM district WHERE d_w_id = %d AND d_id = %d", w, d)
  local c = find_customer(cw, cd)
  row("SELECT c_first, c_middle, c_last, c_credit, c_balance FROM customer " ..
    "WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", cw, cd, c)
  query("UPDATE customer SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f, " ..
    "c_payment_cnt = c_payment_cnt + 1, c_data = if(c_credit = 'BC', " ..
    "left(concat('%d %d %d %d %d %.2f|', c_data), 500), c_data) WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d",
    amount, amount, c, cd, cw, d, w, amount, cw, cd, c)
  query("INSERT INTO history VALUES (%d, %d, %d, %d, %d, now(), %.2f, 'payment')", c, cd, cw, d, w, amount % 10000)
  query("COMMIT")
end

-- 2.6: a customer's last order. Read-only.
local function order_status()
  local w, d = random(1, opt.warehouses), random(1, 10)
  begin("order-status")
  local c = find_customer(w, d)
  row("SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", w, d, c)
  local o = row("SELECT o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d " ..
    "ORDER BY o_id DESC LIMIT 1", w, d, c)
  query("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line " ..
    "WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, tonumber(o) or 0):free()
  query("COMMIT")
end

-- 2.7: the oldest undelivered order of each of a warehouse's districts.
local function delivery()
  local w, carrier = random(1, opt.warehouses), random(1, 10)
  begin("delivery")
  for d = 1, 10 do
    local o = row("SELECT no_o_id FROM new_order WHERE no_w_id = %d AND no_d_id = %d ORDER BY no_o_id LIMIT 1 FOR UPDATE",
      w, d)
    if o then
      query("DELETE FROM new_order WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %d", w, d, o)
      -- The order may be younger than the snapshot that reads without a lock see.
      local c = row("SELECT o_c_id FROM orders WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d FOR UPDATE", w, d, o)
      query("UPDATE orders SET o_carrier_id = %d WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d", carrier, w, d, o)
      query("UPDATE order_line SET ol_delivery_d = now() WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, o)
      local total = row("SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, o)
      query("UPDATE customer SET c_balance = c_balance + %.2f, c_delivery_cnt = c_delivery_cnt + 1 " ..
        "WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", total, w, d, c)
    end
  end
  query("COMMIT")
end

-- 2.8: how many items of a district's last 20 orders are low in stock. Read-only.
local function stock_level()
  local w, d = random(1, opt.warehouses), random(1, 10)
  begin("stock-level")
  local o = row("SELECT d_next_o_id FROM district WHERE d_w_id = %d AND d_id = %d", w, d)
  row("SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = %d AND s_i_id = ol_i_id " ..
    "WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id < %d AND ol_o_id >= %d AND s_quantity < %d",
    w, w, d, o, o - 20, random(10, 20))
  query("COMMIT")
end

function event()
  local percent = random(1, 100)
  if percent <= 45 then new_order()
  elseif percent <= 88 then payment()
  elseif percent <= 92 then order_status()
  elseif percent <= 96 then delivery()
  else stock_level()
  end
end
