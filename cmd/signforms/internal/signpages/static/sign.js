// The script of the signing page. It shows the PDF, leads through the fields, keeps what is entered and tells an embedding page what
// happens. Signing works without it too.
import { place, showAll } from "./fields.js";

const main = document.querySelector("main");
const data = main.dataset;
const library = (name) => new URL(`${data.assets}/lib/${name}`, location.href).href;

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

let tries = 0; // browsers do not load a script again under an address that has failed

// showDocument shows the pages. Each is drawn when it comes near, and its picture is freed when it is far.
async function showDocument() {
	const scroller = document.querySelector(".scroller");
	// The worker is slow to start, so start it before everything else.
	const worker = new Worker(library("pdf.worker.min.mjs"), { type: "module" });
	const broken = new Promise((_, reject) => worker.addEventListener("error", () => reject(new Error("the worker cannot be started"))));
	broken.catch(() => {}); // until it is waited for
	const file = fetch(`${data.path}/document.pdf`).then((answer) => (answer.ok ? answer.arrayBuffer() : Promise.reject(new Error(answer.status))));
	const [pdfjs, content] = await Promise.all([import(`${library("pdf.min.mjs")}${tries++ ? `?${tries}` : ""}`), file]);
	pdfjs.GlobalWorkerOptions.workerPort = worker;
	const opened = pdfjs.getDocument({
		data: content, cMapUrl: library("cmaps/"), cMapPacked: true, standardFontDataUrl: library("standard_fonts/"), wasmUrl: library("wasm/"),
	}).promise;
	const pdf = await Promise.race([opened, broken]);
	const first = await pdf.getPage(1);
	const boxes = Array.from({ length: pdf.numPages }, () => document.createElement("div"));
	boxes.forEach((box, i) => measure(box, i + 1, first)); // most documents have pages of one size
	scroller.replaceChildren(...boxes);
	scroller.tabIndex = 0;
	await draw(pdf, boxes[0], 1);
	main.dataset.shown = Math.round(performance.now());
	watch(pdf, boxes);
	for (let number = 2; number <= pdf.numPages; number++) measure(boxes[number - 1], number, await pdf.getPage(number));
}

function measure(box, number, page) {
	const { width, height } = page.getViewport({ scale: 1 });
	if (box.size === `${width} × ${height}`) return;
	box.size = `${width} × ${height}`;
	box.className = "page";
	box.style.aspectRatio = `${width} / ${height}`;
	box.style.setProperty("--points", width);
	place(box, number, width, height);
}

function watch(pdf, boxes) {
	const near = new Set();
	const drawAgain = (box) => draw(pdf, box, boxes.indexOf(box) + 1);
	const observer = new IntersectionObserver((entries) => {
		for (const { target, isIntersecting } of entries) {
			if (isIntersecting && !near.has(target)) {
				near.add(target);
				drawAgain(target);
			} else if (!isIntersecting && near.delete(target)) {
				free(target);
			}
		}
	}, { rootMargin: "600px" });
	for (const box of boxes) observer.observe(box);
	let width = boxes[0].clientWidth;
	new ResizeObserver(() => {
		if (boxes[0].clientWidth === width) return;
		width = boxes[0].clientWidth;
		near.forEach(drawAgain); // in the new size
	}).observe(boxes[0]);
}

// maxPixels bounds the picture of one page: 16 MB.
const maxPixels = 4_000_000;

async function draw(pdf, box, number) {
	const turn = (box.turn = {}); // another drawing, or free, ends this one
	try {
		const page = await pdf.getPage(number);
		const plain = page.getViewport({ scale: 1 });
		const wanted = (box.clientWidth * Math.min(window.devicePixelRatio || 1, 2)) / plain.width;
		const viewport = page.getViewport({ scale: Math.min(wanted, Math.sqrt(maxPixels / (plain.width * plain.height))) });
		const canvas = document.createElement("canvas");
		canvas.width = Math.max(1, Math.floor(viewport.width));
		canvas.height = Math.max(1, Math.floor(viewport.height));
		canvas.setAttribute("role", "img");
		canvas.ariaLabel = `Page ${number} of ${pdf.numPages}`;
		const words = document.createElement("div"); // for screen readers
		words.className = "hidden";
		words.textContent = (await page.getTextContent()).items.map(({ str, hasEOL }) => str + (hasEOL ? "\n" : "")).join("");
		if (box.turn !== turn) return;
		await page.render({ canvas, viewport }).promise;
		if (box.turn !== turn) return void (canvas.width = 0);
		free(box);
		box.prepend(canvas, words);
		box.dataset.drawn = "";
	} catch (error) {
		if (number === 1 && !main.dataset.shown) throw error;
		if (box.turn === turn) offerAgain(box, number, () => draw(pdf, box, number));
	}
}

function offerAgain(box, number, again) {
	free(box);
	const message = document.createElement("p");
	message.className = "failed";
	message.setAttribute("role", "alert");
	const button = document.createElement("button");
	button.textContent = "Try again";
	button.addEventListener("click", again);
	message.append(`Page ${number} cannot be shown. `, button);
	box.prepend(message);
}

function free(box) {
	box.turn = null;
	const canvas = box.querySelector("canvas");
	if (canvas) canvas.width = canvas.height = 0; // some browsers keep the memory of a canvas that is gone
	for (const old of box.querySelectorAll("canvas, .hidden, .failed")) old.remove();
	delete box.dataset.drawn;
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
		await showDocument();
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
