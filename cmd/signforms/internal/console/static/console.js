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
			// What somebody is typing or has opened stays.
			const typing = main.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
			if (!typing && !main.querySelector("details[open]")) htmx.trigger(main, "refresh");
		}, 500);
	});
}

// The current page's entry is in view where the menu does not fit.
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

document.addEventListener("click", async (event) => {
	const button = event.target.closest("[data-copy]");
	if (!button) return;
	const block = button.closest(".copyable");
	const text = block.querySelector("pre");
	try {
		await navigator.clipboard.writeText(text.textContent);
	} catch { // browsers give the clipboard to loopback and HTTPS alone
		getSelection().selectAllChildren(text);
		if (!document.execCommand("copy")) return;
	}
	block.querySelector("[role=status]").textContent = "Copied";
});
