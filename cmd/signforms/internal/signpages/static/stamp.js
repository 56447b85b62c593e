// Where a value will stand in its field once it is stamped. Package pdf has the same functions in place.go, and testdata/stamp.json
// has what both return. Coordinates are points from the top left corner of the field.
const leading = 1.2;

export function pictureIn(w, h, width, height) {
	const scale = Math.min(w / width, h / height);
	return { x: 0, y: (h - height * scale) / 2, width: width * scale, height: height * scale };
}

export function tickIn(w, h) {
	const side = Math.min(w, h);
	const corners = [[0.15, 0.55], [0.4, 0.8], [0.85, 0.2]].map(([x, y]) => [(w - side) / 2 + side * x, (h - side) / 2 + side * y]);
	return { corners, line: Math.max(side / 10, 0.5) };
}

export function textSizes(h) {
	const sizes = [Math.min(14, h / leading)];
	while (sizes.at(-1) > 2) sizes.push(sizes.at(-1) * 0.94);
	return sizes;
}

export const baseline = (h, size, lines, i) => (h - lines * size * leading) / 2 + size * (i * leading + 0.95);

// fit returns the lines of a text and the largest size in which they fit. width measures a text at size 1. The stamp's font is
// another one, so its lines may end elsewhere.
export function fit(text, w, h, width) {
	let lines, size;
	for (size of textSizes(h)) {
		lines = wrap(text, w / size, width);
		if (lines.length * size * leading <= h + 0.01 && lines.every((line) => width(line) <= w / size + 0.01)) return { lines, size, fits: true };
	}
	return { lines, size, fits: false };
}

// fitting returns how many of the first characters of a text fit.
export function fitting(text, w, h, width) {
	const characters = [...text];
	let [few, many] = [0, characters.length];
	while (few < many) {
		const middle = Math.ceil((few + many) / 2);
		if (fit(characters.slice(0, middle).join(""), w, h, width).fits) few = middle;
		else many = middle - 1;
	}
	return few;
}

function wrap(text, w, width) {
	const lines = [""];
	let used = 0; // of the last line
	const add = (part, wide) => {
		lines[lines.length - 1] += part;
		used += wide;
	};
	const next = () => {
		lines.push("");
		used = 0;
	};
	for (const word of text.split(/(?= )|(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/u)) {
		const wide = width(word);
		if (used + wide <= w) {
			add(word, wide);
			continue;
		}
		if (lines.at(-1).trim()) next();
		for (const character of word.trimStart()) {
			const wide = width(character);
			if (lines.at(-1) && used + wide > w) next();
			add(character, wide);
		}
	}
	return lines.map((line) => line.trim());
}
