// Reads the stream of events for the pages of a browser, in a shared worker: with a stream in each page, the browser's six connections
// to a host would be used up by six pages. The worker's name is the address of the stream. A page posts the kinds of events that it
// wants, or none when it is left. It gets their kinds as they come, "open" whenever events before may have been missed, "lost" when no
// stream can be had, "out" when that takes a login, "gone" when it is there no more, as its workspace was removed, and "here" every 20
// seconds.
const pages = new Map();
const always = ["open", "lost", "out", "gone", "here"];
let source, last;

function tell({ type }) {
	if (type !== "here") last = type;
	for (const [page, kinds] of pages) if (always.includes(type) || kinds.includes(type)) page.postMessage(type);
}

// ask returns what a request for the stream leads to.
async function ask() {
	const asked = new AbortController();
	const answer = await fetch(name, { signal: asked.signal }).catch(() => null);
	asked.abort(); // it may be a stream
	return answer?.ok ? "open" : { 401: "out", 404: "gone" }[answer?.status] ?? "lost";
}

function listen() {
	source = new EventSource(name);
	for (const kind of new Set(["open", ...[...pages.values()].flat()])) source.addEventListener(kind, tell);
	// A browser connects again by itself, but not after a refusal, whose status it does not say.
	source.addEventListener("error", async () => {
		if (source.readyState !== EventSource.CLOSED) return tell({ type: "lost" });
		const type = await ask();
		if (type !== "open") tell({ type });
		if (type !== "gone") setTimeout(listen, 3000);
	});
}

function join(page) {
	page.onmessage = ({ data: kinds }) => {
		if (kinds.length === 0) return pages.delete(page);
		pages.set(page, kinds);
		for (const kind of kinds) source.addEventListener(kind, tell);
		if (source.readyState === EventSource.OPEN) page.postMessage("open");
		else if (["lost", "out", "gone"].includes(last)) page.postMessage(last);
	};
}

if ("onconnect" in self) {
	listen();
	setInterval(tell, 20000, { type: "here" });
	onconnect = (event) => join(event.ports[0]);
} else { // in a browser without shared workers, each page has a worker, which has no stream
	let kinds = [];
	onmessage = ({ data }) => (kinds = data);
	setInterval(async () => kinds.length && postMessage(await ask()), 5000);
}
