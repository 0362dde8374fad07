-- deep.lua DEPTH waits below DEPTH functions.
local function down(n)
	if n > 0 then return down(n - 1) + 1 end
	io.write("ready\n")
	io.flush()
	while true do os.execute("exec sleep 1") end -- it ends soon when this process has ended
end
down(tonumber(arg[1]))
