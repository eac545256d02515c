-- Few rows that everybody wants, for sysbench. A transaction locks some of them, computes, and
-- writes what it computed. It notices by itself if another one had a lock that conflicts:
--
--   exclusive  v is read and v + 1 written; n is counted up by the server. If two transactions had
--              the row at the same time, v falls behind n for good (hot.lua check).
--   shared     v is read twice. If somebody wrote in between, the transaction fails the run.
--
-- `sysbench hot.lua prepare` makes the table, `run` runs the load, `check` looks at the table.
sysbench.cmdline.options = {
  rows = {"Rows that everybody wants", 16},
  locks = {"Rows that a transaction locks", 3},
  shared = {"Of 100 locks, how many are shared", 30},
  upgrades = {"Of 100 shared locks, how many become exclusive, which makes deadlocks", 0},
  think = {"Microseconds between two statements of a transaction, at the client", 0}
}

local ffi = require("ffi")
ffi.cdef("int usleep(unsigned microseconds);")

local random = sysbench.rand.uniform
local con, opt

local function connect()
  opt = sysbench.opt
  con = sysbench.sql.driver():connect()
end

local function query(text, ...)
  return con:query(text:format(...))
end

local function read(row, mode)
  return tonumber((con:query_row(("SELECT v FROM hot WHERE id = %d %s"):format(row, mode))))
end

local function write(row, v)
  query("UPDATE hot SET v = %d, n = n + 1 WHERE id = %d", v, row)
end

function thread_init()
  connect()
end

function thread_done()
  con:disconnect()
end

-- In ascending order, so that there are no deadlocks without upgrades.
local function choose_rows()
  local rows, seen = {}, {}
  while #rows < math.min(opt.locks, opt.rows) do
    local row = random(1, opt.rows)
    if not seen[row] then rows[#rows + 1], seen[row] = row, true end
  end
  table.sort(rows)
  return rows
end

function event()
  local shared = {}
  query("START TRANSACTION")
  for _, row in ipairs(choose_rows()) do
    if random(1, 100) <= opt.shared then
      shared[row] = read(row, "LOCK IN SHARE MODE")
    else
      write(row, read(row, "FOR UPDATE") + 1)
    end
    if opt.think > 0 then ffi.C.usleep(opt.think) end
  end
  for row, v in pairs(shared) do
    local again = read(row, "LOCK IN SHARE MODE")
    assert(again == v, ("row %d: %d has become %d under a shared lock"):format(row, v, again))
    if random(1, 100) <= opt.upgrades then write(row, v + 1) end
  end
  query("COMMIT")
end

function prepare()
  connect()
  query("CREATE TABLE hot (id INT PRIMARY KEY, v BIGINT NOT NULL, n BIGINT NOT NULL) ENGINE=InnoDB")
  for row = 1, opt.rows do query("INSERT INTO hot VALUES (%d, 0, 0)", row) end
end

function check()
  connect()
  local writes, lost = con:query_row("SELECT sum(n), sum(n - v) FROM hot")
  print(("%d writes, %d lost"):format(writes, lost))
  if tonumber(lost) ~= 0 then error("two transactions had a row at the same time") end
end

sysbench.cmdline.commands = {
  check = {check}
}
