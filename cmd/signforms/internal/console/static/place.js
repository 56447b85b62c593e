// Places the fields of a new template on the pages of the chosen PDF. Positions and sizes are fractions of the visible page.
const form = document.querySelector("#template-form");
const assets = form.dataset.assets;
const input = form.querySelector("#pdf");
const fields = form.querySelector("[name=fields]");
const at = (id) => form.querySelector(`#place-${id}`);
const sizes = { signature: [0.3, 0.05], initials: [0.1, 0.04], text: [0.3, 0.03], date: [0.15, 0.03], checkbox: [0.03, 0.02] };
let placed = [];

const rolesOf = () => form.querySelector("#roles").value.split("\n").map((line) => line.trim()).filter(Boolean);

function showRoles() {
	const chosen = at("role").value;
	at("role").replaceChildren(...rolesOf().map((title) => new Option(title, title, false, title === chosen)));
}

function changed() {
	fields.value = JSON.stringify(placed.map(({ name, role, kind, required, page, x, y, width, height }) => ({ name, role, kind, required, page, x, y, width, height })));
	form.querySelector("#placed").replaceChildren(...placed.map((field) => {
		const item = document.createElement("li");
		const remove = document.createElement("button");
		remove.type = "button";
		remove.className = "small";
		remove.textContent = `Remove ${field.name}`;
		remove.addEventListener("click", () => {
			field.box.remove();
			placed = placed.filter((other) => other !== field);
			changed();
		});
		item.append(remove);
		return item;
	}));
}

// freeName returns a name that no other field has.
function freeName() {
	const wanted = at("name").value.trim() || `${at("role").value} ${at("kind").value}`;
	let name = wanted;
	for (let n = 2; placed.some((field) => field.name === name); n++) name = `${wanted} ${n}`;
	return name;
}

function put(page, number, x, y) {
	const kind = at("kind").value;
	const [width, height] = sizes[kind];
	const field = {
		name: freeName(), role: at("role").value, kind, required: at("required").checked, page: number, width, height,
		x: Math.min(Math.max(x, 0), 1 - width), y: Math.min(Math.max(y, 0), 1 - height),
	};
	field.box = document.createElement("button");
	field.box.type = "button";
	field.box.className = "placed";
	field.box.textContent = field.name;
	field.box.setAttribute("aria-label", `${field.name}: move with the arrow keys`);
	field.box.addEventListener("click", (event) => event.stopPropagation());
	field.box.addEventListener("keydown", (event) => {
		const step = { ArrowLeft: [-0.005, 0], ArrowRight: [0.005, 0], ArrowUp: [0, -0.005], ArrowDown: [0, 0.005] }[event.key];
		if (!step) return;
		event.preventDefault();
		field.x = Math.min(Math.max(field.x + step[0], 0), 1 - width);
		field.y = Math.min(Math.max(field.y + step[1], 0), 1 - height);
		stand(field);
		changed();
	});
	stand(field);
	page.append(field.box);
	placed.push(field);
	at("name").value = "";
	changed();
	return field;
}

function stand(field) {
	field.box.style.left = `${field.x * 100}%`;
	field.box.style.top = `${field.y * 100}%`;
	field.box.style.width = `${field.width * 100}%`;
	field.box.style.height = `${field.height * 100}%`;
}

async function showPages() {
	placed = [];
	changed();
	const pages = form.querySelector("#pages");
	pages.replaceChildren();
	const file = input.files[0];
	form.querySelector("#placing").hidden = !file;
	if (!file) return;
	const pdfjs = await import(new URL(`${assets}/lib/pdf.min.mjs`, location.href));
	pdfjs.GlobalWorkerOptions.workerSrc = `${assets}/lib/pdf.worker.min.mjs`;
	const pdf = await pdfjs.getDocument({
		data: await file.arrayBuffer(), cMapUrl: `${assets}/lib/cmaps/`, cMapPacked: true,
		standardFontDataUrl: `${assets}/lib/standard_fonts/`, wasmUrl: `${assets}/lib/wasm/`,
	}).promise;
	for (let number = 1; number <= pdf.numPages; number++) {
		const page = await pdf.getPage(number);
		const viewport = page.getViewport({ scale: 800 / page.getViewport({ scale: 1 }).width });
		const box = document.createElement("div");
		box.className = "page";
		box.tabIndex = 0;
		box.setAttribute("role", "group");
		box.setAttribute("aria-label", `Page ${number}: press Enter to place a field`);
		box.style.aspectRatio = `${viewport.width} / ${viewport.height}`;
		const canvas = document.createElement("canvas");
		canvas.width = viewport.width;
		canvas.height = viewport.height;
		box.append(canvas);
		box.addEventListener("click", (event) => {
			const edge = box.getBoundingClientRect();
			put(box, number, (event.clientX - edge.left - box.clientLeft) / box.clientWidth, (event.clientY - edge.top - box.clientTop) / box.clientHeight);
		});
		box.addEventListener("keydown", (event) => {
			if (event.key === "Enter" && event.target === box) {
				event.preventDefault();
				put(box, number, 0.4, 0.5).box.focus();
			}
		});
		pages.append(box);
		await page.render({ canvas, viewport }).promise;
	}
	form.dataset.shown = pdf.numPages;
}

form.querySelector("#roles").addEventListener("input", showRoles);
input.addEventListener("change", () => showPages().catch(() => {
	form.querySelector("#pages").textContent = "This file cannot be shown here. Adding the template says what is wrong with it.";
}));
showRoles();
