-- Keeps coroutines of all kinds, some of which run for ever. The first argument is the path of the
-- native extension, whose functions make coroutines and resume them.
local oracle = package.loadlib(arg[1], "luaopen_oracle")()
local create, forget, yield = oracle.create, oracle.forget, coroutine.yield
local resume = oracle.resume or function(co, ...)
  oracle.enter(co)
  return oracle.leave(coroutine.resume(co, ...))
end
local everywhere = jit or _VERSION ~= "Lua 5.1" -- a coroutine may yield below metamethods and pcall

function work(n)
  local sum = 0
  for i = 1, n or 10 do sum = sum + i * 3 % 7 end
  return sum + #string.rep("x", 5)
end

local function deep(n)
  if n == 0 then
    yield(work())
    return work()
  end
  return 1 + deep(n - 1)
end

local object = setmetatable({}, {
  __index = function(t, k) work() if everywhere then yield(k) end return work() end,
  __add = function(a, b) if everywhere then yield("add") end return work() end,
  __lt = function(a, b) if everywhere then yield("lt") end return work() > 0 end,
  __concat = function(a, b) if everywhere then yield("concat") end return "x" end,
  __newindex = function(t, k, v) if everywhere then yield("newindex") end work() end,
})
function object_method(self) yield(self) return work() end
local tool = {pause = function(n) yield(n) return work(n) end, object_method = object_method}

local function iterator(state, i)
  if i > 3 then return nil end
  if everywhere then yield(i) end
  work()
  return i + 1
end

local spins
local kinds = {
  function() deep(math.random(10)) end,
  function() yield() return deep(3) end,
  function()
    if everywhere then
      pcall(function() tool.pause(1) error("x") end)
      tool:object_method()
    end
    for i in iterator, nil, 1 do work(i) end
    yield(object.x)
  end,
  function()
    local a = object + 1
    a = object .. "x"
    a = object < object
    object.y = 5
    return a
  end,
  function() -- others run inside of it
    local inner = create(function() for i = 1, 3 do yield(deep(i)) end end)
    while coroutine.status(inner) ~= "dead" do
      resume(inner)
      yield()
    end
    forget(inner)
  end,
  function()
    table.sort({3, 1, 2, 5, 4}, function(a, b) work() return a < b end)
    yield()
    string.gsub("abc", "%w", function(w) work() end)
  end,
  function(...)
    local outer = create(function()
      local inner = create(function() spins() yield() spins() end)
      while coroutine.status(inner) ~= "dead" do resume(inner) end
      forget(inner)
    end)
    while coroutine.status(outer) ~= "dead" do resume(outer) end
    forget(outer)
    return yield(...)
  end,
  function() end,
}
function spins()
  for i = 1, math.random(200) do work(i % 20) end
end

local pool = {}
print("ready")
io.stdout:flush()
while true do
  local i = math.random(30)
  local co = pool[i]
  if not co then
    pool[i] = create(kinds[math.random(#kinds)])
  elseif coroutine.status(co) == "dead" then
    forget(co)
    pool[i] = nil
  else
    resume(co, i)
  end
  if math.random(300) == 1 then collectgarbage("step") end
end
