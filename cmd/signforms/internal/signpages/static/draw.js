// The dialog in which a signature is drawn or typed.
import { png } from "./png.js";

const colour = "#0f1746";
const penWidth = 2.5; // on the screen, in CSS pixels

// offer lets dialog be opened for one thing after another. It calls use with {drawing} or {text} when something was entered. A drawing
// has its strokes, and the size of the canvas that the first of them was drawn on.
export function offer(dialog, use) {
	const [canvas, typed, done, undo, clear, hint] = ["canvas", "input", "#draw-use", "#draw-undo", "#draw-clear", "#draw-hint"].map((s) => dialog.querySelector(s));
	let strokes = []; // lists of points, in CSS pixels of a canvas of this size
	let size;
	let zoom = 1; // of the strokes on the canvas as it is now
	let drawing = false;
	let current = null; // what the dialog was opened for

	// A typed name hides a drawing until it is taken away.
	const seen = () => (typed.value.trim() ? [] : strokes);

	// repaint follows the size of the canvas, which changes when the phone is turned or its keyboard opens.
	function repaint() {
		const { clientWidth: width, clientHeight: height } = canvas;
		if (!width || !height) return;
		if (!strokes.length) size = { width, height };
		const ends = strokes.length ? extent(strokes).map((range) => range[1]) : [0, 0];
		if (!drawing) zoom = Math.min(width / Math.max(size.width, ends[0]), height / Math.max(size.height, ends[1]));
		const ratio = window.devicePixelRatio || 1;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		paint(canvas, seen(), penWidth / zoom, ratio * zoom, 0, 0);
		undo.disabled = clear.disabled = !seen().length;
		dialog.querySelector("#draw-here").hidden = seen().length > 0;
		const dot = seen().length > 0 && current.kind === "signature" && isDot(strokes, size);
		hint.textContent = dot ? "Too small for a signature: draw it at least a tenth as wide as the area." : "";
		done.disabled = dot || (!strokes.length && !typed.value.trim());
	}
	new ResizeObserver(repaint).observe(canvas);

	function add(event) {
		const box = canvas.getBoundingClientRect();
		const events = event.getCoalescedEvents?.() ?? [];
		for (const { clientX, clientY } of events.length ? events : [event]) {
			strokes.at(-1).push([Math.min(Math.max(clientX - box.left, 0), box.width) / zoom, Math.min(Math.max(clientY - box.top, 0), box.height) / zoom]);
		}
		repaint();
	}
	canvas.addEventListener("pointerdown", (event) => {
		if (!event.isPrimary || event.button !== 0) return;
		event.preventDefault();
		canvas.setPointerCapture(event.pointerId);
		typed.value = "";
		drawing = true;
		strokes.push([]);
		add(event);
	});
	canvas.addEventListener("pointermove", (event) => drawing && event.isPrimary && add(event));
	for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => {
		if (!event.isPrimary || !drawing) return;
		drawing = false;
		repaint();
	});

	const set = (left) => {
		strokes = left;
		repaint();
	};
	undo.addEventListener("click", () => set(strokes.slice(0, -1)));
	clear.addEventListener("click", () => set([]));
	typed.addEventListener("input", repaint);
	dialog.querySelector("#draw-cancel").addEventListener("click", () => dialog.close());
	dialog.querySelector("form").addEventListener("submit", () => use(current, seen().length ? { drawing: { strokes, size } } : { text: typed.value.trim() }));

	return (what, title, text, drawing) => {
		({ strokes, size } = drawing ?? { strokes: [] });
		current = what;
		dialog.querySelector("h2").textContent = title;
		typed.value = text;
		dialog.showModal();
		repaint();
	};
}

function paint(canvas, strokes, pen, scale, left, top) {
	const context = canvas.getContext("2d");
	context.setTransform(scale, 0, 0, scale, -left * scale, -top * scale);
	Object.assign(context, { lineWidth: pen, lineCap: "round", lineJoin: "round", strokeStyle: colour, fillStyle: colour });
	for (const stroke of strokes) {
		context.beginPath();
		context.arc(...stroke[0], pen / 2, 0, 2 * Math.PI); // a line without a length draws nothing
		context.fill();
		context.beginPath();
		for (const [x, y] of stroke) context.lineTo(x, y);
		context.stroke();
	}
}

// extent returns where the strokes begin and end, across and down.
const extent = (strokes) => [0, 1].map((axis) => {
	const all = strokes.flat().map((point) => point[axis]);
	return [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
});

// isDot reports whether strokes are no signature: less than a tenth of the area's width across and down. The service refuses a picture
// that is nearly empty.
const isDot = (strokes, { width }) => extent(strokes).every(([from, to]) => to - from < width / 10);

// smallest is the least side of a picture, in CSS pixels, so that a dot stays a dot.
const smallest = 40;

// picture returns the strokes as a PNG without empty margins, in four pixels for each of the screen, or as many as are of use. In a
// field of so many points its lines are a point wide or more.
export function picture({ strokes }, [fieldWidth, fieldHeight]) {
	const [across, down] = extent(strokes);
	const pen = Math.max(penWidth, (across[1] - across[0]) / fieldWidth, (down[1] - down[0]) / fieldHeight);
	const side = ([from, to]) => {
		const length = Math.max(to - from + pen, smallest);
		return [(from + to - length) / 2, length];
	};
	const [[left, width], [top, height]] = [side(across), side(down)];
	const scale = Math.min(4, 1600 / width, 1600 / height);
	return png(colour, coverage(strokes, { pen: pen * scale, scale, left, top }, Math.ceil(width * scale), Math.ceil(height * scale)));
}

// coverage returns how much of each pixel the strokes cover, from 0 to 255. It draws what paint draws. A canvas is not read back, because
// browsers that resist fingerprinting return noise in place of its pixels.
function coverage(strokes, { pen, scale, left, top }, width, height) {
	const covered = { width, height, values: new Uint8Array(width * height) };
	for (const stroke of strokes) {
		const points = stroke.map(([x, y]) => [(x - left) * scale, (y - top) * scale]);
		points.forEach((to, i) => cover(covered, points[i - 1] ?? to, to, pen / 2));
	}
	return covered;
}

// cover adds a line with round ends. A pixel is covered as far as its middle is within the line's edge.
function cover({ width, height, values }, [x0, y0], [x1, y1], radius) {
	const [dx, dy] = [x1 - x0, y1 - y0];
	const long = dx * dx + dy * dy || 1;
	const range = (a, b, end) => [Math.max(Math.floor(Math.min(a, b) - radius - 1), 0), Math.min(Math.ceil(Math.max(a, b) + radius + 1), end)];
	const [[fromX, toX], [fromY, toY]] = [range(x0, x1, width), range(y0, y1, height)];
	for (let y = fromY; y < toY; y++) {
		for (let x = fromX; x < toX; x++) {
			const [px, py] = [x + 0.5 - x0, y + 0.5 - y0];
			const along = Math.min(Math.max((px * dx + py * dy) / long, 0), 1);
			const inside = radius + 0.5 - Math.sqrt((px - along * dx) ** 2 + (py - along * dy) ** 2);
			const value = Math.round(255 * Math.min(Math.max(inside, 0), 1));
			if (value > values[y * width + x]) values[y * width + x] = value;
		}
	}
}
