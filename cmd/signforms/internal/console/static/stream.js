// Reads the stream of events for the pages of a browser, in a shared worker: with a stream in each page, the browser's six connections
// to a host would be used up by six pages. The worker's name is the address of the stream. A page posts the kinds of events that it
// wants, or none when it is left. It gets their kinds as they come, and "open" whenever events before may have been missed.
const pages = new Map();
let source;

function tell({ type }) {
	for (const [page, kinds] of pages) if (type === "open" || kinds.includes(type)) page.postMessage(type);
}

function listen() {
	source = new EventSource(name);
	for (const kind of new Set(["open", ...[...pages.values()].flat()])) source.addEventListener(kind, tell);
	// A browser connects again by itself, but not after a refusal.
	source.addEventListener("error", () => {
		if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
	});
}

function join(page) {
	page.onmessage = ({ data: kinds }) => {
		if (kinds.length === 0) return pages.delete(page);
		pages.set(page, kinds);
		for (const kind of kinds) source.addEventListener(kind, tell);
		if (source.readyState === EventSource.OPEN) page.postMessage("open");
	};
}

listen();
if ("onconnect" in self) onconnect = (event) => join(event.ports[0]);
else join(self); // in a browser without shared workers, each page has a worker
