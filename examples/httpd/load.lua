-- The requests of workload.sh, for wrk: `wrk ... -s load.lua URL -- REQUESTS COLD FILES CLOSE`.
--
--   of 100   path            label
--   70       small/0-999     small    0.2 to 8 KB
--   22       medium/0-399    medium   8 to 128 KB
--    3       large/0-19      large    0.5 to 2 MB
--   COLD     cold/0-...      cold     8 to 128 KB, one of FILES after the other, so that none is in
--                                     the cache
--
-- (COLD is 5 unless told otherwise.) Low numbers are the most frequent. CLOSE of 100 requests ask
-- the server to close the connection. The label is the query, which a server of files ignores.

local ffi = require("ffi")
ffi.cdef("int kill(int process, int signal); int getpid(void);")

local requests, cold, files, close = 0, 0, 0, 0
local sent, coldest = 0, 0

function init(args)
  requests, cold, files, close = tonumber(args[1]), tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
  math.randomseed(42)
end

local function skewed(count) return math.floor(count * math.random() ^ 2) end

-- Until wrk has ended, there may be some more requests than there are cold files.
local function path()
  local kind = math.random() * (sent <= requests and 95 + cold or 95)
  if kind < 70 then return "/small/" .. skewed(1000) .. "?small" end
  if kind < 92 then return "/medium/" .. skewed(400) .. "?medium" end
  if kind < 95 then return "/large/" .. skewed(20) .. "?large" end
  coldest = coldest + 1
  return "/cold/" .. (coldest - 1) % files .. "?cold"
end

function request()
  sent = sent + 1
  -- wrk ends after a time, or by Ctrl-C; it cannot end after a number of requests.
  if sent == requests then ffi.C.kill(ffi.C.getpid(), 2) end
  local headers = { Host = wrk.host }
  if math.random() * 100 < close then headers.Connection = "close" end
  return wrk.format("GET", path(), headers)
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format("requests = %d, failed = %d", summary.requests, failed))
  print(string.format("requests per second = %.1f", summary.requests / summary.duration * 1e6))
  print(string.format("latency average = %.3f ms", latency.mean / 1000))
  print(string.format("latency p99 = %.3f ms", latency:percentile(99) / 1000))
end
