-- Keeps compiled functions busy for ever. Each function announces itself in memory: at the address
-- that is told first, how many functions run, then their numbers, the outermost first: the lines
-- where they begin.
local ffi = require("ffi")
ffi.cdef("typedef struct { int depth; int ids[100000]; } announced; int strcmp(const char *a, const char *b); double floor(double x);")
local s = ffi.new("announced")
local C = ffi.C
local sum = 0
local leaf, calls, loops, recurses, metamethods, protected, variable, closures, stitched, errors

function leaf(n)
  local d = s.depth s.ids[d] = 11 s.depth = d + 1
  local x = n % 7
  if x > 3 then x = x * 2 else x = x + 1 end
  s.depth = d
  return x
end

function calls(n)
  local d = s.depth s.ids[d] = 19 s.depth = d + 1
  local x = leaf(n) + leaf(n + 1)
  s.depth = d
  return x
end

function loops(n)
  local d = s.depth s.ids[d] = 26 s.depth = d + 1
  for i = 1, n do sum = (sum + calls(i)) % 1000 end
  s.depth = d
  return sum
end

function recurses(n)
  local d = s.depth s.ids[d] = 33 s.depth = d + 1
  local x = n == 0 and leaf(n) or 1 + recurses(n - 1)
  s.depth = d
  return x
end

local meta = {
  __index = function(t, k)
    local d = s.depth s.ids[d] = 41 s.depth = d + 1
    local x = leaf(#k)
    s.depth = d
    return x
  end,
  __add = function(a, b)
    local d = s.depth s.ids[d] = 47 s.depth = d + 1
    local x = calls(a.n + b.n)
    s.depth = d
    return x
  end,
}
local object = setmetatable({n = 5}, meta)

function metamethods(n)
  local d = s.depth s.ids[d] = 56 s.depth = d + 1
  local x = 0
  for i = 1, n do x = x + object.other + (object + object) end
  s.depth = d
  return x
end

function protected(n)
  local d = s.depth s.ids[d] = 64 s.depth = d + 1
  local x = 0
  for i = 1, n do
    local _, y = pcall(calls, i)
    x = x + y + C.floor(i / 3) + C.strcmp("a", "b") + math.floor(i / 2)
  end
  s.depth = d
  return x
end

function variable(n, ...)
  local d = s.depth s.ids[d] = 75 s.depth = d + 1
  local x = select("#", ...)
  if n % 20 > 0 then x = x + variable(n - 1, n, ...) end
  s.depth = d
  return x
end

function closures(n)
  local d = s.depth s.ids[d] = 83 s.depth = d + 1
  local t = {}
  for i = 1, n do
    local f = function()
      local d = s.depth s.ids[d] = 87 s.depth = d + 1
      local x = leaf(i)
      s.depth = d
      return x
    end
    t[i] = f() .. "x"
  end
  for k, v in ipairs(t) do sum = (sum + #v + leaf(k)) % 1000 end
  for k, v in pairs(t) do sum = (sum + #v) % 1000 end
  s.depth = d
  return #table.concat(t)
end

function stitched(n)
  local d = s.depth s.ids[d] = 101 s.depth = d + 1
  for i = 1, n do sum = (sum + #tostring(leaf(i)) + #string.rep("x", i % 5) + #("abc"):gsub("b", "c")) % 1000 end
  s.depth = d
  return sum
end

function errors(n)
  local d = s.depth s.ids[d] = 108 s.depth = d + 1
  for i = 1, n / 50 do -- they take long
    pcall(error, i)
    s.depth = d + 1
    pcall(function()
      local d = s.depth s.ids[d] = 113 s.depth = d + 1
      local x = leaf(i) + nil
      return x
    end)
    s.depth = d + 1
  end
  s.depth = d
  return 1
end

local told = io.open(os.getenv("ORACLE"), "a")
told:write(string.format("%d\n\n", tonumber(ffi.cast("uintptr_t", ffi.cast("int *", s)))))
told:close()
io.stdout:write("ready\n")
io.stdout:flush()
local all = {loops, loops, loops, recurses, metamethods, protected, variable, closures, stitched, errors}
while true do
  local f = all[math.random(#all)]
  f(math.random(200))
end
