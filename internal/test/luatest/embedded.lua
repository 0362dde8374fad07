-- Comes to a loop that never ends, below functions of many kinds, in a program that has Lua in it.
-- What stands before this text has given the program's way to write a line (say), and whether no
-- function of C may be called that calls functions of Lua (plain).

-- The callers' places, the innermost first: "C", or source and line, and what the caller calls it.
local function where()
  local list = {}
  for level = 2, 30 do
    if debug then
      local f = debug.getinfo(level, "Sln")
      if not f then break end
      list[#list + 1] = (f.what == "C" and "C" or f.source:gsub("^[@=]", "") .. ":" .. f.currentline) .. "=" .. (f.name or "")
    else -- an error has the place of a caller
      local _, text = pcall(error, "", level + 1)
      list[#list + 1] = (text == "" and "C" or text:match("^(.*):")) .. "="
    end
  end
  return table.concat(list, " ")
end

local function work(n)
  local sum = 0
  for i = 1, n do sum = sum + i % 7 end
  return sum
end
local function spin()
  say("spins " .. where())
  while true do work(1000) end
end
local function compare(a, b)
  spin()
  return a < b
end
local object = {}
function object:method(list)
  if plain then compare(1, 2) else table.sort(list, compare) end
  return #list
end
local lazy = setmetatable({}, {__index = function(t, k)
  local n = object:method({3, 1, 2})
  return n
end})
local co = function() local n = lazy.field return n end
if not plain then co = coroutine.wrap(co) end
local function main()
  pcall(function()
    if plain then co() else say("resumes " .. where()) co() end
  end)
end
