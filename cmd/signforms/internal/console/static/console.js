// Pages update themselves: an event of the kinds in data-live fetches the page's content again, at most twice a second.
const { live, events, stream } = document.body.dataset;
if (live) {
	const Shared = self.SharedWorker ?? Worker;
	const worker = new Shared(stream, { name: events });
	const port = worker.port ?? worker;
	let due = false;
	const refresh = () => {
		const main = document.querySelector("#main");
		// Do not replace what the user is typing or has opened.
		const typing = main.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
		if (typing || main.querySelector("details[open]")) return setTimeout(refresh, 500);
		due = false;
		htmx.trigger(main, "refresh");
	};
	port.onmessage = () => {
		if (!due) setTimeout(refresh, 500);
		due = true;
	};
	addEventListener("pageshow", () => port.postMessage(live.split(",")));
	addEventListener("pagehide", () => port.postMessage([]));
}

document.addEventListener("click", async (event) => {
	const button = event.target.closest("[data-copy]");
	if (!button) return;
	const block = button.closest(".copyable");
	const text = block.querySelector("pre");
	try {
		await navigator.clipboard.writeText(text.textContent);
	} catch { // browsers allow this only on loopback and with HTTPS
		getSelection().selectAllChildren(text);
		if (!document.execCommand("copy")) return;
	}
	block.querySelector("[role=status]").textContent = "Copied";
});

// A form with a file is sent by the script, so that everything entered stays when it is refused, the file too.
document.addEventListener("submit", async (event) => {
	const form = event.target;
	if (form.enctype !== "multipart/form-data") return;
	event.preventDefault();
	const button = form.querySelector("button.main");
	let problem = "The sandbox did not answer as it should. Everything is still here: try again.";
	button.disabled = true;
	try {
		const answer = await fetch(form.getAttribute("action") ?? location.href, { method: "POST", body: new FormData(form) });
		if (answer.ok && new URL(answer.url).searchParams.has("done")) return location.assign(answer.url);
		const page = new DOMParser().parseFromString(await answer.text(), "text/html");
		problem = page.querySelector("[role=alert]")?.textContent ?? problem;
		const seen = page.querySelector("[name=seen]");
		if (seen) form.elements.seen.value = seen.value;
	} catch {} // it was not sent
	button.disabled = false;
	document.querySelector("[role=alert]")?.remove();
	const alert = document.createElement("p");
	alert.className = "notice bad";
	alert.setAttribute("role", "alert");
	alert.textContent = problem;
	button.before(alert);
	alert.scrollIntoView({ block: "nearest" });
});
