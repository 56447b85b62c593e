// The signer's fields: filled in on the page or in the form, which always holds the values, and found one after another.
import { offer, picture } from "./draw.js";
import { missing } from "./missing.js";
import { named } from "./pages.js";
import { baseline, fit, fitting, pictureIn, tickIn } from "./stamp.js";

const form = document.querySelector("#sign-form");
const [next, now] = ["#next", "#now"].map((id) => document.querySelector(id));
const fields = [...(form?.querySelectorAll("[data-field]") ?? [])].map((element) => ({
	element, ...element.dataset, required: "required" in element.dataset,
	input: element.querySelector("input"), image: element.querySelector("input[type=hidden]"),
	place: null, // on the page, once it is shown
}));
const usual = "[150,30]"; // width and height of a field in points, until its page has said how large it is

const changed = (input) => input.dispatchEvent(new Event("input", { bubbles: true }));
const filled = (field) => (field.input.type === "checkbox" ? field.input.checked : field.input.value.trim() || field.image?.value);

// The input of a picture also holds the drawing: it is smaller, and can be changed.
export function setDrawing(image, drawing) {
	image.value = drawing ? picture(drawing, JSON.parse(image.dataset.room ?? usual)) : "";
	image.dataset.drawing = drawing ? JSON.stringify(drawing, (_, value) => (typeof value === "number" ? Math.round(value * 10) / 10 : value)) : "";
}

const draw = form && offer(document.querySelector("#draw"), (field, { drawing, text = "" }) => {
	setDrawing(field.image, drawing);
	field.input.value = text;
	changed(field.image);
});
const openDraw = (field) => draw(field, field.name, field.input.value, JSON.parse(field.image.dataset.drawing || "null"));

// A drawing replaces the typed name, and typing replaces the drawing.
form?.addEventListener("input", ({ target }) => {
	const field = fields.find((one) => one.element.contains(target));
	if (!field) return follow();
	if (field.image) {
		if (target === field.input && target.value) setDrawing(field.image);
		field.input.required = field.required && !field.image.value;
		field.element.querySelector("[data-draw]").textContent = field.image.value ? "Change the drawing" : "Draw instead";
	}
	warn(field);
	field.place?.show();
	follow();
});

// warn says which characters the signed PDF will show as boxes, of which a signature may have none, and whether a text is too long for
// its field.
function warn(field) {
	const typed = field.input.value.normalize("NFC");
	const lost = [...new Set(typed.match(missing))].join(" ");
	const text = lost && `The signed PDF cannot show: ${lost}.${field.image ? " Draw it instead." : ""}`;
	const long = tooLong(field, typed);
	field.element.querySelector(".lost").textContent = [text, long].filter(Boolean).join(" ");
	field.input.setCustomValidity(long || (field.image ? text : ""));
	for (const one of [field.input, field.place?.control]) one?.setAttribute("aria-invalid", Boolean(long));
}

function tooLong(field, typed) {
	if (!field.room || field.input.type === "checkbox" || field.image?.value || !typed) return "";
	const fits = fitting(typed, ...field.room, measured(field));
	return fits < [...typed].length ? `Too long for its field: the first ${fits} of ${[...typed].length} characters fit.` : "";
}

for (const field of fields) {
	const button = field.element.querySelector("[data-draw]");
	if (!button) continue;
	button.hidden = false;
	button.addEventListener("click", () => openDraw(field));
}

// The button at the bottom leads through the fields that are empty, as they are read, to each that is not required once, and then to the
// signature. It says which of all fields is next.
const asked = new Set();
let last = -1; // the index of the field that it led to
const wanted = () => [...fields.slice(last + 1), ...fields.slice(0, last + 1)].find((field) => !filled(field) && (field.required || !asked.has(field)));

function follow() {
	if (!next) return;
	const field = wanted();
	next.dataset.to = field ? "field" : "sign";
	next.textContent = field ? `Next field (${fields.indexOf(field) + 1} of ${fields.length})` : "Go to “Sign”";
}
next?.addEventListener("click", () => {
	const field = wanted();
	const to = field ? field.place?.control ?? field.input : form.agree.checked ? form.querySelector("button.main") : form.agree;
	if (field) {
		asked.add(field);
		last = fields.indexOf(field);
	}
	to.focus({ preventScroll: true });
	to.scrollIntoView({ block: "center", inline: "nearest" });
	follow();
});

// show calls the fields' own functions again after their values were changed by a script.
export function showAll() {
	for (const field of fields) changed(field.image ?? field.input);
	follow();
}

// place adds the fields of a page to its box. A page is so many points wide and high.
export function place(box, number, width, height) {
	for (const field of fields) {
		if (Number(field.page) !== number) continue;
		if (field.image) {
			field.image.dataset.room = JSON.stringify([field.width * width, field.height * height]);
			if (field.image.dataset.drawing) setDrawing(field.image, JSON.parse(field.image.dataset.drawing));
		}
		field.room = [field.width * width, field.height * height];
		warn(field);
		field.place = placed(field, box, field.width * width, field.height * height);
	}
}

function placed(field, box, width, height) {
	field.place?.spot.remove();
	const spot = document.createElement("div");
	spot.className = `spot ${field.kind}${Number(field.x) + field.width / 2 > 0.5 ? " right" : ""}`;
	for (const [side, value] of [["left", field.x], ["top", field.y], ["width", field.width], ["height", field.height]]) spot.style[side] = `${value * 100}%`;
	const control = controlOf(field);
	const hint = document.createElement("span");
	hint.dir = "auto";
	hint.ariaHidden = "true";
	spot.append(hint, control);
	box.append(spot);
	named(spot, field.name);
	const show = () => {
		const has = filled(field);
		spot.classList.toggle("filled", Boolean(has));
		spot.querySelector("svg")?.remove();
		if (has) spot.prepend(preview(field, width, height));
		if (field.image) control.ariaLabel = `${field.name}: ${has ? "change" : "draw or type"}`;
		else if (control.type === "checkbox") control.checked = field.input.checked;
		else if (control.value !== field.input.value) control.value = field.input.value;
	};
	show();
	return { spot, control, show };
}

// controlOf returns what is used on the page: a button that opens the dialog, or an input that passes on to the form what is entered.
function controlOf(field) {
	const control = document.createElement(field.image ? "button" : "input");
	control.type = field.image ? "button" : field.input.type;
	control.ariaLabel = field.name;
	control.addEventListener("focus", () => (now.textContent = field.name)); // below the page, on a phone: the input covers it
	control.addEventListener("blur", () => (now.textContent = ""));
	if (field.image) {
		control.addEventListener("click", () => openDraw(field));
		return control;
	}
	if (field.required) control.ariaRequired = "true";
	if (field.input.maxLength > 0) control.maxLength = field.input.maxLength;
	if (control.type === "text") Object.assign(control, { dir: "auto", placeholder: field.name });
	control.addEventListener("input", () => {
		if (control.type === "checkbox") field.input.checked = control.checked;
		else field.input.value = control.value;
		changed(field.input);
	});
	return control;
}

const svg = (name, attributes, text = "") => {
	const element = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
	element.textContent = text;
	return element;
};
const ruler = document.createElement("canvas").getContext("2d");

const widths = new Map(); // of characters: to measure each text that is tried takes Firefox a minute for 10,000 characters

// measured returns a function that measures a text of a field at size 1.
function measured(field) {
	const style = field.image ? "italic " : "";
	ruler.font = `${style}100px system-ui, sans-serif`;
	return (text) => {
		let sum = 0;
		for (const character of text) {
			const key = style + character;
			if (!widths.has(key)) widths.set(key, ruler.measureText(character).width / 100);
			sum += widths.get(key);
		}
		return sum;
	};
}

// preview draws a value as it will be stamped. Its unit is the point.
function preview(field, width, height) {
	const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
	if (field.input.type === "checkbox") {
		const { corners, line } = tickIn(width, height);
		drawing.append(svg("polyline", { points: corners.join(" "), fill: "none", stroke: "#0f1746", "stroke-width": line }));
		return drawing;
	}
	if (field.image?.value) {
		const picture = new Image();
		picture.src = field.image.value;
		picture.decode().then(() => {
			const at = pictureIn(width, height, picture.naturalWidth, picture.naturalHeight);
			drawing.append(svg("image", { ...at, href: picture.src }));
		}, () => {}); // the service says what is wrong with it
		return drawing;
	}
	const style = field.image ? "italic " : "";
	const text = field.input.value.normalize("NFC").replace(missing, "□");
	const { lines, size } = fit(text, width, height, measured(field));
	const at = (line, i) => svg("text", { x: 0, y: baseline(height, size, lines.length, i), "font-size": size, fill: "#0f1746", "font-style": style || "normal" }, line);
	drawing.append(...lines.map(at));
	return drawing;
}
follow();
