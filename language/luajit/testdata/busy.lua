-- Keeps all kinds of functions busy for ever. The first argument is the path of the native
-- extension.
local oracle = package.loadlib(arg[1], "luaopen_oracle")()
local ffi = require("ffi")
ffi.cdef("int o_callback(int (*f)(int), int n); double sqrt(double x); int strcmp(const char *a, const char *b);")
local library = ffi.load(arg[1])
local loadtext = loadstring
local resume = coroutine.resume
coroutine.resume = function(co, ...)
  oracle.enter(co)
  return oracle.leave(resume(co, ...))
end
coroutine.wrap = function(f)
  local co = coroutine.create(f)
  return function(...)
    oracle.enter(co)
    return select(2, oracle.leave(resume(co, ...)))
  end
end

local yields_in_pcall = true
function work(n)
  local sum = 0
  for i = 1, n or 10 do
    sum = sum + i * 3 % 7
    if sum > 100 then
      sum = sum - 50
    end
  end
  local text = string.format("%d:%s", sum, ("x"):rep(5))
  return #text + sum
end

local function recurse(depth)
  if depth == 0 then return work() end
  return 1 + recurse(depth - 1)
end

local function tail(n)
  work()
  if n == 0 then
    return work(3)
  end
  return tail(n - 1)
end

local function closures()
  local count = 0
  local function add()
    count = count + work(2)
    return count
  end
  local twice = function(f) return f() + f() end
  twice(add)
  return twice(function()
    return recurse(2)
  end)
end

local function raises(n)
  work()
  if n == 0 then error({n = n}) end
  raises(n - 1)
  return 1
end

local function errors()
  pcall(raises, 3)
  xpcall(function() raises(1) end, function(e) work() return e end)
  pcall(function()
    pcall(error, "x")
    work()
    local t = nil
    return t.x
  end)
  pcall(string.rep)
  oracle.attempt(raises, 2)
end

local meta = {}
meta.__index = function(t, k) work() return meta[k] or recurse(1) end
meta.__newindex = function(t, k, v) rawset(t, k, work() + v) end
meta.__add = function(a, b) pcall(raises, 1) return work() end
meta.__call = function(self, n) work() return tail(n) end
meta.__eq = function(a, b) return work() > 0 end
meta.__lt = function(a, b) return recurse(1) > 0 end
meta.__le = function(a, b) return recurse(1) > 0 end
meta.__concat = function(a, b) return "text" .. work() end
meta.__len = function() return work() end
meta.__tostring = function() return "object" .. work() end
meta.__gc = function() work(2) end
local function metamethods()
  local a, b = setmetatable({}, meta), setmetatable({}, meta)
  a.x = a.y + b.z
  local c = a + b
  local d = a == b
  d = a < b or
    a <= b
  c = a .. "x"
  a(2)
  local e = tostring(a)
  return #e
end

local function generator(n)
  return coroutine.wrap(function()
    for i = 1, n do
      if yields_in_pcall then
        pcall(function()
          coroutine.yield(work())
        end)
      else
        coroutine.yield(work())
      end
      recurse(2)
    end
    return nil
  end)
end

local function coroutines()
  for v in generator(3) do
    work(v % 3)
  end
  local outer = coroutine.wrap(function()
    local inner = generator(2)
    inner()
    coroutine.yield(inner())
    local deep = coroutine.create(function(x)
      raises(2)
    end)
    coroutine.resume(deep, 1)
    table.sort({3, 1, 2}, function(a, b)
      work()
      return a < b
    end)
    return tail(1)
  end)
  outer()
  outer()
end

local function sorts()
  local list = {}
  for i = 1, 8 do list[i] = math.random(100) end
  table.sort(list, function(a, b) work(1) return a < b end)
  table.sort(list, function(a, b)
    return recurse(1) > 0 and
      a > b
  end)
  return table.concat(list, ",")
end

local function patterns()
  local text = ("abc "):rep(20)
  text = text:gsub("%w+", function(w) return w:upper() .. work(1) end)
  for w in text:gmatch("%a+") do
    if #w > 2 then work(1) end
  end
  return (text:gsub("(b+)(c)", "%2%1"))
end

local function texts()
  local f = loadtext("local n = ...\nlocal function inner() return work(n) end\nreturn inner() + inner()", "=text")
  f(2)
  f = loadtext("return work(\n1)")
  f()
  loadtext("not a program")
  pcall(loadtext("error('x')"))
end

local object = {list = {}}
function object:method(n)
  self.list[#self.list % 10 + 1] = work(n)
  return self:other(n)
end
function object.other(self, n)
  return work(n), select("#", unpack({1, 2, 3}))
end

local function callbacks()
  oracle.call(recurse, 3)
  oracle.call(oracle.call, function() return oracle.attempt(errors) end)
  oracle.call(pcall, raises, 1)
  pcall(pcall, pcall, tail, 2)
end

local function varargs(...)
  local n = select("#", ...)
  if n > 3 then return work(n) end
  return varargs(n, ...)
end

local function garbage()
  local t = {}
  for i = 1, 20 do
    t[i] = setmetatable({i}, meta)
  end
  collectgarbage("step")
  return work()
end

local called = ffi.cast("int (*)(int)", function(n) return work(n) end)
local function foreign()
  local sum = library.o_callback(called, 3)
  for i = 1, 20 do sum = sum + ffi.C.sqrt(i) + ffi.C.strcmp("a", "b") end
  oracle.protected()
  local p = ffi.new("int[10]")
  for i = 0, 9 do p[i] = i * sum end
  return p[5]
end

local function mathematics()
  local sum = 0
  for i = 1, 50 do
    sum = sum + math.sin(i) + math.floor(i / 3) + 2 ^ i + i % 3.5 + math.fmod(i, 3)
    sum = sum + math.max(i, 4, sum)
  end
  local t = {}
  for i = 1, 30 do t[i] = tostring(i) end
  for k, v in pairs(t) do sum = sum + #v end
  for k, v in ipairs(t) do sum = sum + tonumber(v) end
  return sum, table.concat(t), t[1]:byte(), string.char(65, 66)
end

local all = {foreign, mathematics, function() return recurse(math.random(20)) end, function() return tail(5) end, closures, errors, metamethods, coroutines, sorts, patterns, texts,
  function() return object:method(3) end, callbacks, function() return varargs(1) end, garbage}
print("ready")
io.stdout:flush()
while true do
  all[math.random(#all)]()
end
