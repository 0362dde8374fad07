"use strict";
(function () {
	var svg = document.documentElement, width = svg.viewBox.baseVal.width;
	var frames = Array.prototype.slice.call(document.getElementById("frames").children);
	var details = document.getElementById("details"), reset = document.getElementById("reset"), search = document.getElementById("search");
	function number(g, name) { return parseFloat(g.getAttribute("data-" + name)); }
	function title(g) { return g.firstElementChild.textContent; }
	function name(g) { return title(g).replace(/ \([^(]*\)$/, ""); }
	function zoom(to) {
		var x = number(to, "x"), w = number(to, "w"), y = number(to, "y");
		frames.forEach(function (g) {
			var gx = number(g, "x"), gw = number(g, "w");
			var outer = number(g, "y") < y && gx <= x + 0.001 && gx + gw >= x + w - 0.001;
			var inside = gx >= x - 0.001 && gx + gw <= x + w + 0.001 && number(g, "y") >= y;
			g.style.display = outer || inside ? "" : "none";
			var left = outer ? 0 : (gx - x) * width / w, wide = outer ? width : gw * width / w;
			g.children[1].setAttribute("x", left);
			g.children[1].setAttribute("width", wide);
			g.children[2].setAttribute("x", left + 3);
			var n = Math.floor((wide - 6) / 7), text = name(g);
			g.children[2].textContent = n < 3 ? "" : text.length <= n ? text : text.slice(0, n - 2) + "..";
		});
		reset.setAttribute("visibility", to === frames[0] ? "hidden" : "visible");
	}
	function find() {
		var text = window.prompt("Search for a function (regular expression); nothing ends the search", "");
		if (text === null) return;
		var wanted;
		try { wanted = text ? new RegExp(text) : null; } catch (e) { search.textContent = String(e.message); return; }
		var n = 0;
		frames.forEach(function (g) {
			var r = g.children[1];
			if (!r.hasAttribute("data-fill")) r.setAttribute("data-fill", r.getAttribute("fill"));
			var hit = wanted && wanted.test(name(g));
			if (hit) n++;
			r.setAttribute("fill", hit ? "rgb(230,0,230)" : r.getAttribute("data-fill"));
		});
		search.textContent = wanted ? n + " found" : "Search";
	}
	frames.forEach(function (g) {
		g.style.cursor = "pointer";
		g.addEventListener("mouseover", function () { details.textContent = title(g); });
		g.addEventListener("mouseout", function () { details.textContent = " "; });
		g.addEventListener("click", function () { zoom(g); });
	});
	reset.addEventListener("click", function () { zoom(frames[0]); });
	search.addEventListener("click", find);
	window.addEventListener("keydown", function (e) {
		if ((e.ctrlKey || e.metaKey) && e.key === "f" || e.key === "F3") { e.preventDefault(); find(); }
	});
})();
