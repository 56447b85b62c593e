// Lists follow what happens: each event of the stream that a page lives by fetches the page's content again, at most twice a
// second. The stream itself is kept by htmx, which reconnects.
const kinds = (document.body.dataset.live ?? "").split(",");
let waiting = false;
for (const kind of kinds) {
	document.body.addEventListener(kind, () => {
		if (waiting) return;
		waiting = true;
		setTimeout(() => {
			waiting = false;
			const main = document.querySelector("#main");
			// What somebody is typing stays.
			if (!main.contains(document.activeElement) || !document.activeElement.matches("input, textarea, select")) htmx.trigger(main, "refresh");
		}, 500);
	});
}
