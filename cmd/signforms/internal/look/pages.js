// Shows the pages of a PDF. Each is drawn when it comes near, and its picture is freed when it is far.
let tries = 0; // browsers do not load a script again under an address that has failed

// lost is the error of something that did not arrive. It says nothing about the file.
const lost = (what) => Object.assign(new Error(`${what} did not arrive.`), { lost: true });
const lostScript = () => lost("The script that shows PDFs");

const asked = new Set(); // addresses; a request that hangs holds up the next one, unless that passes by the browser's cache

// get fetches a PDF. It fails too when it is led elsewhere, such as to a login.
export async function get(address, signal) {
	const cache = asked.has(address) ? "no-store" : "default";
	asked.add(address);
	const answer = await fetch(address, { signal, cache }).catch(() => Promise.reject(lost("The PDF")));
	if (!answer.ok || answer.redirected) throw lost("The PDF");
	return answer.arrayBuffer().catch(() => Promise.reject(lost("The PDF")));
}

// attempt begins work, which takes the signal of end and a function to call once something can be seen. Until then, a line that holds a
// text and a button says how it goes. It offers to begin again after ten seconds, and when the work fails or two minutes have passed.
// Then why returns what to say. When the caller aborts end, attempt fails without a word. A page that nobody sees gets no animation
// frames, without which PDF.js draws nothing: the time counts from the first frame, and anew whenever the page is hidden or shown.
export async function attempt(line, end, { work, again, why }) {
	const { signal } = end;
	const [text, button] = line.children;
	const say = (words, offer) => {
		text.textContent = words;
		line.hidden = !words;
		button.hidden = !offer;
	};
	let frame, timers = [];
	const stop = () => {
		cancelAnimationFrame(frame);
		timers.forEach(clearTimeout);
	};
	const count = () => {
		stop();
		frame = requestAnimationFrame(() => {
			timers = [setTimeout(() => say("Still loading …", true), 10_000), setTimeout(() => end.abort(lost("An answer in two minutes")), 120_000)];
		});
	};
	const seen = () => {
		stop();
		document.removeEventListener("visibilitychange", count);
	};
	const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
	button.onclick = () => {
		end.abort();
		again();
	};
	say("Loading the document …");
	document.addEventListener("visibilitychange", count);
	count();
	try {
		const result = await Promise.race([work(signal, seen), aborted]);
		say("");
		return result;
	} catch (error) {
		if (!signal.aborted || signal.reason.lost) say(why(error), true);
		end.abort();
		throw error;
	} finally {
		seen();
	}
}

// named gives a field on a page a name that is seen where there is room for it, and is a tooltip elsewhere.
export function named(box, name) {
	box.querySelector("span").textContent = box.title = name;
	room.observe(box);
}
const room = new ResizeObserver((boxes) => {
	for (const text of boxes.map(({ target }) => target.querySelector("span"))) {
		const fits = text.scrollWidth <= text.clientWidth && text.scrollHeight <= text.clientHeight;
		text.style.visibility = fits ? "" : "hidden";
	}
});

// showPages shows a PDF, whose content is a promise, in an element. It calls measured with the box, number, width and height in
// points of each page, again if they change, and shown when the first page is drawn. It returns the number of pages. When the
// signal aborts, everything is freed, and it fails or never returns.
export async function showPages(into, { assets, content, measured, shown, signal }) {
	const library = (name) => new URL(`${assets}/lib/${name}`, location.href).href;
	// The worker is slow to start, so start it before everything else.
	const worker = new Worker(library("pdf.worker.min.mjs"), { type: "module" });
	signal?.addEventListener("abort", () => worker.terminate());
	const broken = new Promise((_, reject) => worker.addEventListener("error", () => reject(lostScript())));
	broken.catch(() => {}); // until it is waited for
	const script = import(`${library("pdf.min.mjs")}${tries++ ? `?${tries}` : ""}`).catch(() => Promise.reject(lostScript()));
	const [pdfjs, data] = await Promise.all([script, content]);
	signal?.throwIfAborted();
	pdfjs.GlobalWorkerOptions.workerPort = worker;
	const opened = pdfjs.getDocument({
		data, cMapUrl: library("cmaps/"), cMapPacked: true, standardFontDataUrl: library("standard_fonts/"), wasmUrl: library("wasm/"),
	}).promise;
	const pdf = await Promise.race([opened, broken]);
	const first = await pdf.getPage(1);
	signal?.throwIfAborted();
	const boxes = Array.from({ length: pdf.numPages }, () => document.createElement("div"));
	const measure = (i, page) => {
		const { width, height } = page.getViewport({ scale: 1 });
		const box = boxes[i];
		if (box.size === `${width} × ${height}`) return;
		box.size = `${width} × ${height}`;
		box.className = "page";
		box.style.aspectRatio = `${width} / ${height}`;
		box.style.setProperty("--points", width);
		box.setAttribute("role", "group");
		box.ariaLabel = `Page ${i + 1} of ${boxes.length}`;
		measured(box, i + 1, width, height);
	};
	boxes.forEach((_, i) => measure(i, first)); // most documents have pages of one size
	into.replaceChildren(...boxes);
	signal?.addEventListener("abort", () => boxes.forEach(free));
	await draw(pdf, boxes[0], 1, true);
	signal?.throwIfAborted();
	shown();
	watch(pdf, boxes, signal);
	for (let i = 1; i < boxes.length; i++) measure(i, await pdf.getPage(i + 1));
	return boxes.length;
}

function watch(pdf, boxes, signal) {
	const near = new Set();
	const drawAgain = (box) => draw(pdf, box, boxes.indexOf(box) + 1);
	const nearness = new IntersectionObserver((entries) => {
		for (const { target, isIntersecting } of entries) {
			if (isIntersecting && !near.has(target)) {
				near.add(target);
				drawAgain(target);
			} else if (!isIntersecting && near.delete(target)) {
				free(target);
			}
		}
	}, { rootMargin: "600px" });
	for (const box of boxes) nearness.observe(box);
	let width = boxes[0].clientWidth;
	const size = new ResizeObserver(() => {
		if (boxes[0].clientWidth === width) return;
		width = boxes[0].clientWidth;
		near.forEach(drawAgain); // in the new size
	});
	size.observe(boxes[0]);
	signal?.addEventListener("abort", () => [nearness, size].forEach((observer) => observer.disconnect()));
}

// maxPixels bounds the picture of one page: 16 MB.
const maxPixels = 4_000_000;

async function draw(pdf, box, number, must) {
	const turn = (box.turn = {}); // another drawing, or free, ends this one
	try {
		const page = await pdf.getPage(number);
		const plain = page.getViewport({ scale: 1 });
		const wanted = (box.clientWidth * Math.min(window.devicePixelRatio || 1, 2)) / plain.width;
		const viewport = page.getViewport({ scale: Math.min(wanted, Math.sqrt(maxPixels / (plain.width * plain.height))) });
		const canvas = document.createElement("canvas");
		canvas.width = Math.max(1, Math.floor(viewport.width));
		canvas.height = Math.max(1, Math.floor(viewport.height));
		canvas.ariaHidden = "true";
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
		if (must) throw error;
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
