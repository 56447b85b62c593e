// The script of the signing page. It shows the PDF, leads through the fields, keeps what is entered and tells an embedding page what
// happens. Signing works without it too.
import { place, showAll } from "./fields.js";
import { showPages } from "./pages.js";

const main = document.querySelector("main");
const data = main.dataset;

// The origins that may embed this page. If the browser says which origin does, only that one.
const above = location.ancestorOrigins?.[0];
const frames = (data.frames ?? "").split(" ").filter((origin) => origin && (!above || above === origin));

// tell sends an event to the embedding page. The browser delivers it only if that page has one of the origins.
function tell(event, detail = {}) {
	if (window.parent === window) return;
	const message = { source: "signforms", event, documentId: data.document ?? "", signerId: data.signer ?? "", ...detail };
	for (const origin of frames) window.parent.postMessage(message, origin);
}

// say shows a message at the bottom, and offers to try again.
function say(text, again) {
	const bar = document.querySelector("#bar");
	const button = bar.querySelector("#again");
	bar.querySelector("p").textContent = text;
	button.hidden = !again;
	button.onclick = () => {
		say("");
		again();
	};
}

// shown is kept once the document is shown and the service knows it. Signing waits for that.
let shown;

// start begins a step towards that. The steps say themselves why they fail.
function start(step) {
	shown = step();
	shown.catch(() => {});
}

async function show() {
	const loading = document.querySelector("#loading");
	const [text, again] = loading.children;
	const open = document.querySelector("#open");
	loading.hidden = false;
	again.hidden = true;
	text.textContent = "Loading the document …";
	try {
		const content = fetch(`${data.path}/document.pdf`).then((answer) => (answer.ok ? answer.arrayBuffer() : Promise.reject(new Error(answer.status))));
		const scroller = document.querySelector(".scroller");
		scroller.tabIndex = 0;
		const first = () => (main.dataset.shown = Math.round(performance.now()));
		await showPages(scroller, { assets: data.assets, content, measured: place, shown: first });
	} catch (error) {
		text.textContent = "The document cannot be shown here. Try again, or open it as a PDF instead.";
		again.hidden = false;
		again.onclick = () => start(show);
		open.onclick = () => start(() => fetch(open.href).then((answer) => (answer.ok ? note() : Promise.reject(error))));
		tell("error", { message: "the document cannot be shown" });
		throw error;
	}
	loading.hidden = true;
	open.onclick = null;
	return note();
}

// note reports that a person has seen the document. Fetching the link does not count as that.
async function note() {
	if (data.state !== "ready") return;
	try {
		const answer = await fetch(`${data.path}/viewed`, { method: "POST", headers: { accept: "application/json" } });
		if (!answer.ok) throw new Error(answer.status);
	} catch (error) {
		say("That you have seen the document could not be noted, which signing needs.", () => start(note));
		throw error;
	}
	tell("viewed");
}

// send submits a form, and stays on this page when that fails.
async function send(form) {
	const button = form.querySelector(":scope > button");
	button.disabled = true;
	try {
		if (form.dataset.act === "signed") await shown;
	} catch {
		button.disabled = false;
		return say("The document must have been shown before you can sign.", () => start(show));
	}
	try {
		const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
		const page = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
		if (page?.dataset.state !== "ready" && page?.dataset.path) return location.replace(`${data.path}?did=${form.dataset.act}`);
		const problem = page?.querySelector("[role=alert]")?.textContent ?? "The service did not answer as it should.";
		say(problem);
		tell("error", { message: problem });
	} catch {
		say("That could not be sent. Nothing is lost.", () => form.requestSubmit());
	}
	button.disabled = false;
}

// keep holds what is entered in the browser's tab until the form is sent, and puts it back after a reload.
function keep() {
	const key = `signforms ${data.path}`;
	const inputs = [...document.querySelectorAll("form[data-act] [name]")];
	try {
		if (data.state !== "ready") return sessionStorage.removeItem(key);
		const entered = JSON.parse(sessionStorage.getItem(key) ?? "{}");
		for (const input of inputs) {
			if (!(input.name in entered)) continue;
			if (input.type === "checkbox") input.checked = entered[input.name];
			else input.value ||= entered[input.name];
		}
		document.addEventListener("input", () => {
			const now = inputs.map((input) => [input.name, input.type === "checkbox" ? input.checked : input.value]);
			try {
				sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(now)));
			} catch {} // there is no room for it
		});
	} catch {} // the browser lets this page keep nothing
	showAll();
}

// refresh loads the page again when the document has changed.
function refresh() {
	setTimeout(async () => {
		try {
			const page = new DOMParser().parseFromString(await (await fetch(data.path)).text(), "text/html").querySelector("main");
			if (page?.dataset.version && page.dataset.version !== data.version) {
				return location.replace(data.path + (data.events.includes("finished") || data.state === "finishing" ? "?did=told" : ""));
			}
		} catch {} // the next time, perhaps
		refresh();
	}, 3000);
}

tell("ready");
for (const event of (data.events ?? "").split(" ")) if (event) tell(event);
if (data.state === "error" || data.reason) tell("error", { message: data.reason || "this link cannot be used" });
document.querySelector(".plain")?.remove();
if (data.path) {
	new ResizeObserver(() => tell("resize", { height: document.documentElement.scrollHeight })).observe(document.body);
	keep();
	start(show);
	if (["waiting", "signed", "finishing"].includes(data.state)) refresh();
}
if (data.state === "ready") {
	document.querySelector("#bar").hidden = false;
	document.addEventListener("submit", (event) => {
		if (!event.target.dataset.act) return;
		event.preventDefault();
		send(event.target);
	});
}
