// The script of the signing page. It shows the PDF page by page, shows what is entered in its place on the page, offers to draw
// signatures, and tells an embedding page what happens. Signing works without it too.
const main = document.querySelector("main");
const data = main.dataset;
const library = (name) => new URL(`${data.assets}/lib/${name}`, location.href).href;

// The worker is slow to start, so start it before everything else.
const worker = data.pdf && new Worker(library("pdf.worker.min.mjs"), { type: "module" });
const broken = new Promise((_, reject) => worker?.addEventListener("error", () => reject(new Error("the worker cannot be started"))));

// The origins that may embed this page. If the browser says which origin does, only that one.
const above = location.ancestorOrigins?.[0];
const frames = (data.frames ?? "").split(" ").filter((origin) => origin && (!above || above === origin));

// tell sends an event to the embedding page. The browser delivers it only if that page has one of the origins.
function tell(event, detail = {}) {
	if (window.parent === window) return;
	const message = { source: "signforms", event, documentId: data.document ?? "", signerId: data.signer ?? "", ...detail };
	for (const origin of frames) window.parent.postMessage(message, origin);
}

async function showDocument() {
	const loading = document.querySelector("#loading");
	loading.hidden = false;
	const pdfjs = await import(library("pdf.min.mjs"));
	pdfjs.GlobalWorkerOptions.workerPort = worker;
	const opened = pdfjs.getDocument({
		url: data.pdf, cMapUrl: library("cmaps/"), cMapPacked: true, standardFontDataUrl: library("standard_fonts/"), wasmUrl: library("wasm/"),
	}).promise;
	const pdf = await Promise.race([opened, broken]);
	const section = document.querySelector(".pages");
	const observer = new IntersectionObserver((entries) => {
		for (const entry of entries) {
			if (!entry.isIntersecting) continue;
			observer.unobserve(entry.target);
			draw(pdf, entry.target);
		}
	}, { rootMargin: "800px" });
	for (let number = 1; number <= pdf.numPages; number++) {
		const { width, height } = (await pdf.getPage(number)).getViewport({ scale: 1 });
		const box = document.createElement("div");
		box.className = "page";
		box.dataset.number = number;
		box.style.aspectRatio = `${width} / ${height}`;
		section.append(box);
		placeSpots(box, number);
		if (number === 1) {
			await draw(pdf, box);
			loading.hidden = true;
			main.dataset.shown = Math.round(performance.now());
			await viewed();
		} else {
			observer.observe(box);
		}
	}
}

async function draw(pdf, box) {
	const number = Number(box.dataset.number);
	const page = await pdf.getPage(number);
	const scale = box.clientWidth * Math.min(window.devicePixelRatio || 1, 2) / page.getViewport({ scale: 1 }).width;
	const viewport = page.getViewport({ scale });
	const canvas = document.createElement("canvas");
	canvas.width = Math.floor(viewport.width);
	canvas.height = Math.floor(viewport.height);
	canvas.setAttribute("role", "img");
	canvas.setAttribute("aria-label", `Page ${number} of ${pdf.numPages}`);
	box.prepend(canvas);
	await page.render({ canvas, viewport }).promise;
	box.dataset.drawn = "";
}

// viewed reports that a person has seen the document. Fetching the link does not count as that.
async function viewed() {
	if (data.state !== "ready") return;
	const answer = await fetch(data.viewed, { method: "POST", headers: { accept: "application/json" } });
	if (answer.ok) tell("viewed");
}

// placeSpots adds a spot for each field of a page. A spot shows what is entered in the field. A click on it moves the focus there.
function placeSpots(box, number) {
	for (const field of document.querySelectorAll(`[data-field][data-page="${number}"]`)) {
		const spot = document.createElement("button");
		spot.type = "button";
		spot.className = `spot ${field.dataset.kind}`;
		for (const [side, value] of [["left", "x"], ["top", "y"], ["width", "width"], ["height", "height"]]) {
			spot.style[side] = `${Number(field.dataset[value]) * 100}%`;
		}
		const input = field.querySelector("input");
		spot.addEventListener("click", () => input.focus());
		const update = () => fillSpot(spot, field, input);
		input.addEventListener("input", update);
		field.addEventListener("drawn", update);
		update();
		box.append(spot);
	}
}

function fillSpot(spot, field, input) {
	const image = field.querySelector("input[type=hidden]")?.value;
	const text = input.type === "checkbox" ? (input.checked ? "✓" : "") : input.value;
	spot.replaceChildren(text || field.dataset.name);
	if (image) {
		const picture = new Image();
		picture.src = image;
		picture.alt = "";
		spot.replaceChildren(picture);
	}
	const state = text || image ? "filled in" : "empty";
	spot.classList.toggle("filled", state !== "empty");
	spot.setAttribute("aria-label", `Go to ${field.dataset.name}, ${state}`);
}

function offerDrawing() {
	const dialog = document.querySelector("#draw");
	let pad = null;
	let field = null;
	const open = async (own) => {
		const { default: SignaturePad } = await import(library("signature_pad.min.js"));
		pad ??= new SignaturePad(dialog.querySelector("canvas"), { penColor: "#0f1746" });
		field = own;
		pad.clear();
		dialog.showModal();
	};
	// A drawing replaces the typed name, and typing replaces the drawing.
	const use = (own, image) => {
		const typed = own.querySelector("input:not([type=hidden])");
		own.querySelector("input[type=hidden]").value = image;
		if (image) typed.value = "";
		typed.required = !image && own.querySelector("label").classList.contains("required");
		own.dispatchEvent(new Event("drawn"));
	};
	for (const button of document.querySelectorAll("[data-draw]")) {
		const own = button.closest("[data-field]");
		button.hidden = false;
		button.addEventListener("click", () => open(own));
		own.querySelector("input:not([type=hidden])").addEventListener("input", () => use(own, ""));
	}
	dialog?.querySelector("#draw-use").addEventListener("click", () => {
		if (!pad.isEmpty()) use(field, pad.toDataURL("image/png"));
		dialog.close();
	});
	dialog?.querySelector("#draw-clear").addEventListener("click", () => pad.clear());
	dialog?.querySelector("#draw-cancel").addEventListener("click", () => dialog.close());
}

function showHeight() {
	tell("resize", { height: document.documentElement.scrollHeight });
}

tell("ready");
if (data.event) tell(data.event);
if (data.state === "error" || data.reason) tell("error", { message: data.reason || "this link cannot be used" });
if (data.pdf) {
	new ResizeObserver(showHeight).observe(document.body);
	offerDrawing();
	showDocument().catch(() => {
		document.querySelector("#loading").textContent = "The document cannot be shown here. Open it as a PDF instead.";
		tell("error", { message: "the document cannot be shown" });
	});
}
const reload = document.querySelector("[data-reload]");
if (reload) setTimeout(() => location.reload(), Number(reload.dataset.reload) * 1000);
