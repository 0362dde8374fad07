-- Comes to rest in a function of C, below functions of many kinds. The first argument is the path of
-- the native extension. Before, debug.traceback has told the stacks of the coroutines and of the
-- main state, the innermost first.
local oracle = package.loadlib(arg[1], "luaopen_oracle")()
local texts = {}
local function tell(text) texts[#texts + 1] = text end

function inner(n)
  if n > 0 then return (outer(n - 1)) end
  tell(debug.traceback("", 1)) oracle.tell(table.concat(texts)) oracle.rest()
end
function outer(n)
  local r = inner(n)
  return r
end
module_of_ours = {deep = function(f) return (select(1, f(3))) end}
package.loaded.module_of_ours = module_of_ours

local meta = setmetatable({}, {__index = function(t, k) return (module_of_ours.deep(inner)) end})
local co = coroutine.wrap(function()
  string.gsub("x", "x", function()
    local v = meta.x
  end)
end)
local load = loadstring or load
local function main()
  pcall(function()
    load("local co, tell = ...\ntell('') co()")(co, function() tell(debug.traceback("", 1)) end)
  end)
end
table.sort({1, 2}, main)
