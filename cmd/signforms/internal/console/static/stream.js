// Reads the stream of events for the pages of a browser, in a shared worker: with a stream in each page, the browser's six connections
// to a host would be used up by six pages. The worker's name is the address of the stream. A page posts the kinds of events that it
// wants, or none when it is left. It gets their kinds as they come, "open" whenever events before may have been missed, "gone" when the
// stream is there no more, as its workspace was removed, and "here" every 20 seconds.
const pages = new Map();
let source, gone = false;

function tell({ type }) {
	for (const [page, kinds] of pages) if (["open", "gone", "here"].includes(type) || kinds.includes(type)) page.postMessage(type);
}

function listen() {
	source = new EventSource(name);
	for (const kind of new Set(["open", ...[...pages.values()].flat()])) source.addEventListener(kind, tell);
	// A browser connects again by itself, but not after a refusal, whose status it does not say.
	source.addEventListener("error", async () => {
		if (source.readyState !== EventSource.CLOSED) return;
		const asked = new AbortController();
		const answer = await fetch(name, { signal: asked.signal }).catch(() => null);
		asked.abort(); // it may be a stream
		gone = answer?.status === 404;
		if (gone) tell({ type: "gone" });
		else setTimeout(listen, 3000);
	});
}

function join(page) {
	page.onmessage = ({ data: kinds }) => {
		if (kinds.length === 0) return pages.delete(page);
		pages.set(page, kinds);
		for (const kind of kinds) source.addEventListener(kind, tell);
		if (source.readyState === EventSource.OPEN) page.postMessage("open");
		if (gone) page.postMessage("gone");
	};
}

if ("onconnect" in self) {
	listen();
	setInterval(tell, 20000, { type: "here" });
	onconnect = (event) => join(event.ports[0]);
} else { // in a browser without shared workers, each page has a worker, which has no stream
	let kinds = [];
	onmessage = ({ data }) => (kinds = data);
	setInterval(async () => {
		if (!kinds.length) return;
		const asked = new AbortController();
		const answer = await fetch(name, { signal: asked.signal }).catch(() => null);
		asked.abort();
		postMessage(answer?.status === 404 ? "gone" : "open");
	}, 5000);
}
