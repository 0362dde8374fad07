"use strict";
(function () {
	var svg = document.documentElement, height = parseFloat(svg.getAttribute("data-height"));
	var frames = Array.prototype.slice.call(document.getElementById("frames").children);
	var details = document.getElementById("details"), reset = document.getElementById("reset"), search = document.getElementById("search");
	var caption = document.getElementById("title"), captionText = svg.getElementsByTagName("title")[0].textContent;
	var at = frames.map(function (f) { return { x: parseFloat(f.getAttribute("x")), w: parseFloat(f.getAttribute("width")), y: parseFloat(f.getAttribute("y")), wide: 0, shown: true }; });
	function title(f) { return f.firstElementChild.textContent; }
	var names = frames.map(function (f) { return title(f).replace(/ \([^(]*\)$/, ""); });
	function fitted(text, n) { return n < 3 ? "" : text.length <= n ? text : text.slice(0, n - 2) + ".."; }
	// fit writes names as wide as their frames are now.
	function fit() {
		var width = svg.getBoundingClientRect().width || 1200;
		caption.textContent = fitted(captionText, Math.floor((width - 200) / 10));
		frames.forEach(function (f, i) {
			if (at[i].shown) f.children[2].textContent = fitted(names[i], Math.floor((at[i].wide * width / 100 - 6) / 7));
		});
	}
	function zoom(to) {
		var x = at[to].x, w = at[to].w, y = at[to].y, near = 0.0002;
		frames.forEach(function (f, i) {
			var a = at[i];
			var outer = a.y > y && a.x <= x + near && a.x + a.w >= x + w - near;
			var inside = a.x >= x - near && a.x + a.w <= x + w + near && a.y <= y;
			a.shown = outer || inside;
			f.style.display = a.shown ? "" : "none";
			a.wide = outer ? 100 : a.w * 100 / w;
			f.setAttribute("x", (outer ? 0 : (a.x - x) * 100 / w) + "%");
			f.setAttribute("width", a.wide + "%");
		});
		reset.setAttribute("visibility", to === 0 ? "hidden" : "visible");
		fit();
	}
	function find() {
		var text = window.prompt("Search for a function (regular expression); nothing ends the search", "");
		if (text === null) return;
		var wanted;
		try { wanted = text ? new RegExp(text) : null; } catch (e) { search.textContent = String(e.message); return; }
		var n = 0;
		frames.forEach(function (f, i) {
			var r = f.children[1];
			if (!r.hasAttribute("data-fill")) r.setAttribute("data-fill", r.getAttribute("fill"));
			var hit = wanted && wanted.test(names[i]);
			if (hit) n++;
			r.setAttribute("fill", hit ? "#e600e6" : r.getAttribute("data-fill"));
		});
		search.textContent = wanted ? n + " found" : "Search";
	}
	frames.forEach(function (f, i) {
		f.addEventListener("mouseover", function () { details.textContent = title(f); });
		f.addEventListener("mouseout", function () { details.textContent = " "; });
		f.addEventListener("click", function () { zoom(i); });
	});
	reset.addEventListener("click", function () { zoom(0); });
	search.addEventListener("click", find);
	window.addEventListener("keydown", function (e) {
		if ((e.ctrlKey || e.metaKey) && e.key === "f" || e.key === "F3") { e.preventDefault(); find(); }
	});
	// Lengths are pixels of the window from here on: the picture is as wide as that, and letters stay as they are.
	svg.removeAttribute("viewBox");
	svg.style.height = height + "px";
	window.addEventListener("resize", fit);
	zoom(0);
})();
