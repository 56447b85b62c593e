// Writes pictures as PNG files.

// png returns a picture of one colour, such as "#0f1746", as a data URL. values has the opacity of each pixel, which is the pixel's index
// in a palette of that colour in every opacity.
export function png(colour, { width, height, values }) {
	const rows = new Uint8Array((width + 1) * height); // each begins with its filter, which is none
	for (let y = 0; y < height; y++) rows.set(values.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
	const palette = Array.from({ length: 256 }, () => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16))).flat();
	const file = [
		0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a,
		...chunk("IHDR", [...bytes(width), ...bytes(height), 8, 3, 0, 0, 0]),
		...chunk("PLTE", palette),
		...chunk("tRNS", [...palette.keys()].slice(0, 256)),
	];
	for (const part of [chunk("IDAT", zlib(rows)), chunk("IEND", [])]) for (const byte of part) file.push(byte);
	return `data:image/png;base64,${btoa(file.map((byte) => String.fromCharCode(byte)).join(""))}`;
}

const bytes = (number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255);

function chunk(type, data) {
	const checked = [...type].map((letter) => letter.charCodeAt(0)).concat(data);
	let crc = -1;
	for (const byte of checked) {
		crc ^= byte;
		for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 && 0xedb88320);
	}
	return [...bytes(data.length), ...checked, ...bytes(~crc)];
}

// zlib compresses data as one block of deflate with the fixed codes. Only a byte that repeats is written shorter, which suits drawings:
// they are empty for the most part.
function zlib(data) {
	const out = [0x78, 0x01];
	let held = 0, count = 0; // bits that are not written yet
	const write = (value, length) => {
		held |= value << count;
		for (count += length; count >= 8; count -= 8, held >>>= 8) out.push(held & 255);
	};
	const code = (value, length) => { // a Huffman code begins with its highest bit
		for (let i = length - 1; i >= 0; i--) write((value >> i) & 1, 1);
	};
	const symbol = (n) => {
		if (n < 144) code(0x30 + n, 8);
		else if (n < 256) code(0x190 + n - 144, 9);
		else if (n < 280) code(n - 256, 7);
		else code(0xc0 + n - 280, 8);
	};
	write(3, 3); // the last block, with the fixed codes
	for (let i = 0; i < data.length; ) {
		let end = i;
		while (i && end < data.length && end - i < 258 && data[end] === data[i - 1]) end++;
		if (end - i < 3) {
			end = i + 1;
			symbol(data[i]);
		} else {
			const length = end - i - 3;
			const extra = Math.max(Math.floor(Math.log2(length || 1)) - 2, 0); // bits, which follow the symbol
			if (length === 255) symbol(285);
			else symbol(257 + 4 * extra + (length >> extra)), write(length & ((1 << extra) - 1), extra);
			code(0, 5); // of the byte before
		}
		i = end;
	}
	symbol(256);
	write(0, 7); // fills the last byte
	let [a, b] = [1, 0];
	for (const byte of data) {
		a = (a + byte) % 65521;
		b = (b + a) % 65521;
	}
	return [...out, ...bytes(((b << 16) | a) >>> 0)];
}
