// Places the fields of a template on the pages of its PDF. Positions and sizes are fractions of the visible page.
import { attempt, get, named, showPages } from "./pages.js";

const form = document.querySelector("#template-form");
const find = (selector) => form.querySelector(selector);
const pages = find("#pages");
const chosen = find("#field-role");
const sizes = { signature: [0.3, 0.05], initials: [0.1, 0.04], text: [0.3, 0.03], date: [0.15, 0.03], checkbox: [0.03, 0.02] };
const step = 0.005;
const roles = () => [...form.querySelectorAll("[name=roles]")];

// fields are those of the template. The role of each is the input that holds the role's title. A field keeps its page, whatever PDF is
// shown.
const fields = [];
let boxes = []; // of the pages
let selected;

// undone and redone are lists of states, each a list of fields with what they had.
const [undone, redone] = [[], []];
const state = () => fields.map((field) => [field, { ...field }]);

// keep makes what is done next a step that can be undone.
function keep() {
	undone.push(state());
	redone.length = 0;
	form.dataset.unsaved = "";
}

// travel goes from the state now to the last one in from, and keeps the state now in to.
function travel(from, to) {
	if (!from.length) return;
	to.push(state());
	const before = [...fields];
	for (const { box } of fields) box.remove();
	fields.splice(0, fields.length, ...from.pop().map(([field, had]) => Object.assign(field, had)));
	select(fields.find((field) => !before.includes(field)) ?? (fields.includes(selected) ? selected : undefined));
	form.dataset.unsaved = "";
	written();
	(selected?.box.isConnected ? selected.box : find("#kinds button")).focus();
}

// written puts the fields into the form and on their pages, and the roles' titles and colours wherever they are shown.
function written() {
	find("#undo").disabled = !undone.length;
	find("#redo").disabled = !redone.length;
	form.elements.fields.value = JSON.stringify(fields.map(({ box, role, ...field }) => ({ ...field, role: role.value.trim() })));
	roles().forEach((input, i) => (input.parentElement.dataset.colour = i % 6));
	for (const select of [find("#add-for"), chosen]) {
		const index = Math.max(select.selectedIndex, 0);
		select.replaceChildren(...roles().map((input, i) => new Option(input.value.trim() || `Role ${i + 1}`)));
		select.selectedIndex = index;
		select.dataset.colour = index % 6;
	}
	for (const { box, name, kind, role, page, x, y, width, height } of fields) {
		const on = boxes[page - 1];
		if (!on) box.remove();
		else if (box.parentElement !== on) on.append(box);
		named(box, name);
		box.dataset.colour = roles().indexOf(role) % 6;
		box.ariaLabel = `${name}: ${kind} of ${role.value}`;
		for (const [side, value] of Object.entries({ left: x, top: y, width, height })) box.style[side] = `${value * 100}%`;
	}
	listLost();
}

// listLost lists the fields whose pages the PDF does not have. The template cannot be saved with them.
function listLost() {
	const lost = boxes.length ? fields.filter(({ page }) => page > boxes.length) : [];
	const text = lost.length ? `The last page is ${boxes.length}. Choose a page for each of these fields, or another PDF.` : "";
	find("#pdf").setCustomValidity(text);
	find("#lost").hidden = !text;
	if (find("#lost p").textContent !== text) find("#lost p").textContent = text;
	find("#lost ul").replaceChildren(...lost.map((field) => {
		const [item, button] = ["li", "button"].map((name) => document.createElement(name));
		button.type = "button";
		button.className = "small";
		button.textContent = `${field.name} (page ${field.page})`;
		button.addEventListener("click", () => {
			select(field);
			find("#field-page").focus();
		});
		item.append(button);
		return item;
	}));
}

function select(field) {
	selected?.box.classList.remove("selected");
	selected = field;
	find("#selected").hidden = !field;
	if (!field) return;
	field.box.classList.add("selected");
	find("#field-name").value = field.name;
	find("#field-required").checked = field.required;
	chosen.selectedIndex = roles().indexOf(field.role);
	const numbers = Array.from(boxes, (_, i) => i + 1);
	if (!boxes[field.page - 1]) numbers.push(field.page);
	find("#field-page").replaceChildren(...numbers.map((number) => new Option(boxes[number - 1] ? number : `${number} (not there)`, number, false, number === field.page)));
	written();
}

function remove() {
	keep();
	const next = fields[fields.indexOf(selected) + 1] ?? fields.at(-2);
	selected.box.remove();
	fields.splice(fields.indexOf(selected), 1);
	select();
	written();
	(next?.box.isConnected ? next.box : find("[data-kind]")).focus();
}

const between = (least, value, most) => Math.min(Math.max(value, least), most);

// move and resize keep the field on its page.
function move(field, x, y) {
	field.x = between(0, x, 1 - field.width);
	field.y = between(0, y, 1 - field.height);
}

function resize(field, width, height) {
	field.width = between(0.01, width, 1 - field.x);
	field.height = between(0.01, height, 1 - field.y);
}

// add adds a field and makes its box.
function add(field) {
	const box = (field.box = document.createElement("div"));
	const corner = document.createElement("i");
	box.className = "placed";
	box.tabIndex = 0;
	box.setAttribute("role", "button");
	box.setAttribute("aria-describedby", "keys");
	box.append(document.createElement("span"), corner);
	box.addEventListener("focus", () => select(field));
	box.addEventListener("pointerdown", (event) => {
		if (event.button) return;
		event.preventDefault();
		box.focus({ preventScroll: true });
		box.setPointerCapture(event.pointerId);
		const page = box.parentElement;
		const { x, y, width, height } = field;
		let kept = false;
		box.onpointermove = ({ clientX, clientY }) => {
			if (!kept) keep();
			kept = true;
			const right = (clientX - event.clientX) / page.clientWidth;
			const down = (clientY - event.clientY) / page.clientHeight;
			if (event.target === corner) resize(field, width + right, height + down);
			else move(field, x + right, y + down);
			written();
		};
		box.onlostpointercapture = () => (box.onpointermove = null);
	});
	box.addEventListener("keydown", (event) => {
		const [right, down] = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key] ?? [0, 0];
		if (event.key === "Delete" || event.key === "Backspace") return remove();
		if (!right && !down) return;
		event.preventDefault();
		if (!event.repeat) keep(); // a key held down is one step
		if (event.shiftKey) resize(field, field.width + right, field.height + down);
		else move(field, field.x + right, field.y + down);
		written();
		box.scrollIntoView({ block: "nearest", inline: "nearest" });
	});
	fields.push(field);
}

// freeName returns a name that no other field has.
function freeName(wanted) {
	let name = wanted;
	for (let n = 2; fields.some((field) => field.name === name); n++) name = `${wanted} ${n}`;
	return name;
}

// freeTop returns where a field covers no other: where it is, or else as near as possible below, or above. Fields that are lower than
// least are as easy to grab as if they were so high. A page without room has the field where it is.
function freeTop({ page, x, y, width, height }, least) {
	const others = fields.filter((other) => other.page === page && other.x < x + width && x < other.x + other.width);
	const apart = (other) => Math.max(least - other.height, 0) / 2 + Math.max(least - height, 0) / 2;
	const below = (other) => other.y + other.height + apart(other);
	const above = (other) => other.y - height - apart(other);
	const isFree = (top) => top >= 0 && top + height <= 1 && others.every((other) => top >= below(other) - 1e-9 || top <= above(other) + 1e-9);
	const tops = [y, ...others.map(below), ...others.map(above)].filter(isFree);
	return tops.sort((a, b) => (a < y) - (b < y) || Math.abs(a - y) - Math.abs(b - y))[0] ?? y;
}

// addHere adds a field to the page of which most is visible, in the middle of what is visible.
function addHere(kind) {
	const role = roles()[find("#add-for").selectedIndex];
	const edges = boxes.map((box) => box.getBoundingClientRect());
	const tools = find(".tools").getBoundingClientRect();
	const end = tools.left < edges[0].right ? tools.top : innerHeight; // on a phone the tools cover the end of the page
	const seen = edges.map(({ top, bottom }) => [Math.max(top, 0), Math.min(bottom, end)]);
	const most = Math.max(...seen.map(([top, bottom]) => bottom - top));
	const index = seen.findIndex(([top, bottom]) => bottom - top === most);
	const [width, height] = sizes[kind];
	const field = { name: freeName(`${role.value.slice(0, 900)} ${kind}`.trim()), role, kind, required: true, page: index + 1, width, height };
	move(field, 0.5 - width / 2, ((seen[index][0] + seen[index][1]) / 2 - edges[index].top) / edges[index].height);
	field.y = freeTop(field, 24 / edges[index].height);
	keep();
	add(field);
	written();
	field.box.focus({ preventScroll: true });
	field.box.scrollIntoView({ block: "center" });
}

let showing;

// show shows the pages of the chosen PDF, or of the one that the template has, or an empty page.
function show() {
	showing?.abort();
	const end = (showing = new AbortController());
	const file = find("#pdf").files[0];
	boxes = [];
	delete form.dataset.shown;
	find("#adding").hidden = true;
	pages.replaceChildren();
	listLost();
	const unread = () => Promise.reject(Object.assign(new Error("The file cannot be read any more: choose it again."), { lost: true }));
	const work = (signal, seen) => showPages(pages, {
		assets: form.dataset.assets, content: file ? file.arrayBuffer().catch(unread) : get(form.dataset.pdf, signal), signal,
		measured: (box, number) => (boxes[number - 1] = box),
		shown: () => {
			seen();
			find("#adding").hidden = false;
			if (selected) select(selected);
			written();
		},
	});
	const why = (error) => (error.lost ? error.message : "This file cannot be shown here. Saving the template says what is wrong with it.");
	attempt(find("#loading"), end, { work, again: show, why }).then((count) => (form.dataset.shown = count), () => {}); // it has said why
}

for (const field of JSON.parse(form.elements.fields.value || "[]") ?? []) add({ x: 0, y: 0, required: false, ...field, role: roles().find((input) => input.value === field.role) ?? roles()[0] });
written();
for (const button of form.querySelectorAll("[data-kind]")) button.addEventListener("click", () => addHere(button.dataset.kind));
find("#remove").addEventListener("click", remove);
find("#undo").addEventListener("click", () => travel(undone, redone));
find("#redo").addEventListener("click", () => travel(redone, undone));
document.addEventListener("keydown", (event) => {
	const key = (event.ctrlKey || event.metaKey) && !event.altKey ? event.key.toLowerCase() : "";
	if (!"zy".includes(key) || !key || event.target.matches("input:not([type=checkbox], [type=file])")) return; // a text has an undo of its own
	event.preventDefault();
	if (key === "z" && !event.shiftKey) travel(undone, redone);
	else travel(redone, undone);
});
find("#add-role").hidden = false;
find("#add-role").addEventListener("click", () => {
	const role = roles().at(-1).parentElement.cloneNode(true);
	const input = role.firstElementChild;
	input.ariaLabel = `Role ${roles().length + 1}`;
	input.required = false;
	input.value = role.lastElementChild.value = "";
	roles().at(-1).parentElement.after(role);
	written();
	input.focus();
});
find("#field-name").addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
let naming; // the field whose name is being typed, which is one step
form.addEventListener("focusin", () => (naming = undefined));
form.addEventListener("input", ({ target }) => {
	form.dataset.unsaved = "";
	if (target.id === "pdf" || target.id === "add-for") return;
	if (find("#selected").contains(target) && naming !== selected) keep();
	if (target.id === "field-name") (naming = selected).name = target.value.trim();
	if (target.id === "field-required") selected.required = target.checked;
	if (target === chosen) selected.role = roles()[chosen.selectedIndex];
	if (target.id === "field-page") selected.page = Number(target.value);
	written();
	if (target.id === "field-page") selected.box.scrollIntoView({ block: "center" });
});
find("#pdf").addEventListener("change", show);
addEventListener("beforeunload", (event) => "unsaved" in form.dataset && event.preventDefault());
show();
