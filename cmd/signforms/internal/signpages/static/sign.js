// The script of the signing page. It shows the PDF, leads through the fields, keeps what is entered and tells an embedding page what
// happens. Signing works without it too.
const main = document.querySelector("main");
const data = main.dataset;

// The answers to a form are sent once, even while other parts of this script are loaded. Who comes back to the page may send again.
const sendAnswers = document.querySelector("form.sheet:not([data-act]) button");
sendAnswers?.form.addEventListener("submit", () => (sendAnswers.disabled = true));
addEventListener("pageshow", () => sendAnswers && (sendAnswers.disabled = false));

// An empty date looks empty.
const mark = (input) => input.type === "date" && input.classList.toggle("blank", !input.value);
document.querySelectorAll("input").forEach(mark);
for (const event of ["input", "change"]) document.addEventListener(event, ({ target }) => mark(target));

// Browsers do not say that an input is full. The next edit takes the words away.
document.addEventListener("paste", ({ target, clipboardData }) => {
	const room = target.maxLength - target.value?.length + target.selectionEnd - target.selectionStart;
	const { length } = clipboardData.getData("text");
	if (!(target.maxLength > 0 && length > room)) return;
	const place = target.closest("#draw")?.querySelector("#draw-hint") ?? target.closest(".field")?.querySelector(".lost") ?? document.querySelector("#bar p");
	setTimeout(() => {
		place.textContent = `Only the first ${room.toLocaleString("en")} of ${length.toLocaleString("en")} characters were taken. ${place.textContent}`;
		target.addEventListener("input", () => (place.textContent = ""), { once: true });
	});
});

// The origins that may embed this page. If the browser says which origin does, only that one. "null" does not say it: Firefox hides the
// origin behind it, because the frame sends no referrer.
const above = location.ancestorOrigins?.[0] ?? "null";
const frames = (data.frames ?? "").split(" ").filter((origin) => origin && (above === "null" || above === origin));

// tell sends an event to the embedding page. The browser delivers it only if that page has one of the origins.
function tell(event, detail = {}) {
	if (window.parent === window) return;
	const message = { source: "signforms", event, documentId: data.document ?? "", signerId: data.signer ?? "", ...detail };
	for (const origin of frames) window.parent.postMessage(message, origin);
}

// say shows a message at the bottom, and offers to try again.
function say(text, again) {
	const bar = document.querySelector("#bar");
	if (!bar) return;
	const button = bar.querySelector("#again");
	bar.querySelector("p").textContent = text;
	button.hidden = !again;
	button.onclick = () => {
		say("");
		again();
	};
}

// fail says what went wrong, here and to the embedding page. reason is why nothing more can be done, if so.
function fail(text, again, reason) {
	say(text, again);
	tell("error", { message: text, ...(reason && { reason }) });
}

// The page of a document needs other parts. Without them, this script leaves it as it is without JavaScript.
const parts = data.path && (await Promise.all([import("./fields.js"), import("./pages.js")]).catch(() => null));
const [{ place, setDrawing, showAll }, { attempt, get, showPages }] = parts ?? [{}, {}];

// ask fails when there is no answer in so many seconds.
const ask = (address, seconds, options) => fetch(address, { signal: AbortSignal.timeout(seconds * 1000), ...options });

// shown is kept once the document is shown and the service knows it. Signing waits for that.
let shown;

// start begins a step towards that. The steps say themselves why they fail.
function start(step) {
	shown = step();
	shown.catch(() => {});
}

let showing = new AbortController(); // ends what shows the document

async function show() {
	showing.abort();
	showing = new AbortController();
	const scroller = document.querySelector(".scroller");
	const open = document.querySelector(".open");
	const address = `${data.path}/document.pdf`;
	scroller.tabIndex = 0;
	say("");
	await attempt(document.querySelector("#loading"), showing, {
		work: (signal, seen) => showPages(scroller, {
			assets: data.assets, content: get(address, signal), measured: place, signal,
			shown: () => {
				seen();
				zoom.hidden = false;
				main.dataset.shown = Math.round(performance.now());
			},
		}),
		again: () => start(show),
		why: () => {
			open.onsubmit = () => start(() => get(address, AbortSignal.timeout(120_000)).then(note));
			tell("error", { message: "the document cannot be shown" });
			return "The document cannot be shown here. Try again, or open it as a PDF instead.";
		},
	});
	open.onsubmit = null;
	return note();
}

const notNoted = "That you have seen the document could not be noted, which signing needs.";

// note reports that a person has seen the document. Fetching the link does not count as that.
async function note() {
	if (data.state !== "ready") return;
	try {
		const answer = await ask(`${data.path}/viewed`, 15, { method: "POST", headers: { accept: "application/json" } });
		if (!answer.ok) throw new Error(answer.status);
	} catch {
		fail(notNoted, () => start(note));
		throw new Error(notNoted);
	}
	say("");
	tell("viewed");
}

// send submits a form, and stays on this page when that fails.
async function send(form) {
	const button = form.querySelector(":scope > button");
	button.disabled = true;
	say("One moment …");
	const slow = setTimeout(() => say("Still waiting for an answer …"), 10_000);
	const ended = () => {
		clearTimeout(slow);
		button.disabled = data.state === "ended";
	};
	try {
		if (form.dataset.act === "signed") await shown;
	} catch ({ message }) {
		ended();
		if (message === notNoted) return fail(notNoted, () => start(note));
		return fail("The first page must have been shown before you can sign.", () => start(show));
	}
	try {
		const answer = await ask(form.action, 120, { method: "POST", body: new URLSearchParams(new FormData(form)) });
		const page = await pageOf(answer);
		if (answer.ok && page?.dataset.path) return location.replace(`${data.path}?did=${form.dataset.act}`);
		const words = page?.dataset.problem ?? "The service did not answer as it should.";
		if (isNewer(page)) {
			ended();
			return follow(page, words);
		}
		if (isOver(page)) {
			ended();
			return end(page);
		}
		const over = page?.dataset.problem && page.dataset.state !== "ready" && answer.status !== 413; // the page would not show the entries again
		fail(over ? `${words} ${copyIt}` : words);
	} catch {
		fail("There was no answer, so whether it was done is not known. Everything is still here: try again.", () => form.requestSubmit());
	}
	ended();
}

// keep holds what is entered in the browser's tab until the form is sent, and puts it back after a reload.
function keep() {
	const key = `signforms ${data.path ?? location.pathname}`;
	const inputs = [...document.querySelectorAll("main form [name]:not([name=version])")];
	const valueOf = { checkbox: (input) => input.checked, hidden: (input) => input.dataset.drawing };
	const refused = document.querySelector(".notice[role=alert]"); // the service has put back what was sent
	try {
		if (data.state === "error") return;
		if (!["ready", ""].includes(data.state)) return sessionStorage.removeItem(key);
		const entered = JSON.parse(sessionStorage.getItem(key) ?? "{}");
		for (const input of inputs) {
			const value = entered[input.name];
			if (!value) continue;
			if (input.type === "checkbox") input.checked = value;
			else if (input.type === "radio") input.checked = input.value === value;
			else if (input.type === "hidden") setDrawing(input, JSON.parse(value));
			else if (!input.value || !refused) input.value = value;
			mark(input);
		}
	} catch {} // the browser lets this page keep nothing, which it says with the first entry
	showAll?.();
	document.addEventListener("input", () => {
		try {
			const now = inputs.filter((input) => input.type !== "radio" || input.checked).map((input) => [input.name, valueOf[input.type]?.(input) ?? input.value]);
			sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(now)));
		} catch {
			say("The browser has no room to keep what you enter. It is lost if you leave or reload this page.");
		}
	});
}

const pageOf = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");

// isNewer reports whether the service's page has signatures that this one lacks, and can be signed too.
const isNewer = (page) => data.state === "ready" && page?.dataset.state === "ready" && page.dataset.version !== data.version;

const copyIt = "What you entered is still here: copy what you need before you leave or reload this page.";

// isOver reports whether this person cannot sign any more, or has signed.
const isOver = (page) => data.state === "ready" && (page?.dataset.ended || ["signed", "finishing", "ended"].includes(page?.dataset.state));

// end says that nothing can be signed any more. The service's page would not show what was entered here, so this one stays.
function end(page) {
	document.querySelector("#draw").close();
	data.state = "ended";
	for (const part of [".top .status", ".lead", ".people"]) {
		const now = page.ownerDocument.querySelector(part);
		if (now) document.querySelector(part).replaceWith(now);
		else if (part === ".lead") document.querySelector(".lead p").textContent = page.dataset.problem;
	}
	for (const button of document.querySelectorAll("[data-act] button, #next, .spot button")) button.disabled = true;
	fail(`${page.dataset.problem} ${copyIt}`, null, page.dataset.ended);
}

// follow shows what others have entered meanwhile. What was entered here stays.
function follow(page, words) {
	data.version = page.dataset.version;
	for (const part of [".people", "[name=version]"]) document.querySelector(part).replaceWith(page.querySelector(part));
	document.querySelector(".people").parentElement.open = true;
	start(async () => {
		await show();
		say(words);
	});
}

// isSending reports whether the answer to a form is awaited.
const isSending = () => document.querySelector("form[data-act] > button:disabled");

// isBusy reports whether somebody draws, or types into the document.
const isBusy = () => document.querySelector("#draw")?.open || document.activeElement?.matches(".scroller input");

// refresh looks whether the document has changed, and shows it anew.
function refresh() {
	setTimeout(async () => {
		try {
			const page = await pageOf(await ask(data.path, 15));
			if (data.state === "ended") return;
			if (isSending()) return refresh();
			if (isOver(page)) return page.dataset.ended ? end(page) : location.replace(data.path); // signed elsewhere
			if (isNewer(page) && !isBusy()) follow(page, "Somebody has signed meanwhile. The document shows what was entered.");
			if (data.state !== "ready" && page?.dataset.version && page.dataset.version !== data.version) {
				return location.replace(data.path + (data.events.includes("finished") || data.state === "finishing" ? "?did=told" : ""));
			}
		} catch {} // the next time, perhaps
		refresh();
	}, 3000);
}

const zoom = document.querySelector("#zoom");
zoom?.addEventListener("click", () => {
	zoom.ariaPressed = String(document.querySelector(".scroller").classList.toggle("large"));
});

tell("ready");
for (const event of (data.events ?? "").split(" ")) if (event) tell(event);
if (data.problem && !data.events) tell("error", { message: data.problem, ...(data.ended && { reason: data.ended }) });
if (data.path) new ResizeObserver(() => tell("resize", { height: document.documentElement.scrollHeight })).observe(document.body);
const bar = document.querySelector("#bar");
if (bar) bar.hidden = false;
if (data.path === undefined) {
	keep();
} else if (!parts) {
	bar?.querySelector("#next").remove();
	fail("A part of this page could not be loaded. Reload the page.", () => location.reload());
} else {
	document.querySelector(".plain").remove();
	keep();
	start(show);
	if (["ready", "waiting", "signed", "finishing"].includes(data.state)) refresh();
	document.addEventListener("submit", (event) => {
		if (!event.target.dataset.act) return;
		event.preventDefault();
		send(event.target);
	});
}
