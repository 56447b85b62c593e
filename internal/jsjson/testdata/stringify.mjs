// Answers frames on standard input with JSON.stringify(JSON.parse(frame)), the frame taken as UTF-8.
// A frame is a length (4 bytes, little-endian) and as many bytes. An answer is the same; length 0xffffffff means that
// JSON.parse threw. internal/jsjson/node_test.go runs it.
import { readSync, writeSync } from 'node:fs';

const refused = Buffer.from([0xff, 0xff, 0xff, 0xff]);

export function normalize(bytes) {
  let value;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (err) {
    if (err instanceof SyntaxError) return null;
    throw err;
  }
  return JSON.stringify(value);
}

function readExactly(n) {
  const buffer = Buffer.allocUnsafe(n);
  for (let have = 0; have < n; ) {
    const got = readSync(0, buffer, have, n - have);
    if (got === 0) return null;
    have += got;
  }
  return buffer;
}

function writeAll(buffer) {
  for (let done = 0; done < buffer.length; ) done += writeSync(1, buffer, done);
}

// Requests and answers come in batches: a count (4 bytes), then the frames.
function serve() {
  for (let head; (head = readExactly(8)); ) {
    const count = head.readUInt32LE(0);
    const batch = readExactly(head.readUInt32LE(4));
    const out = [];
    for (let i = 0, at = 0; i < count; i++) {
      const size = batch.readUInt32LE(at);
      const text = normalize(batch.subarray(at + 4, at + 4 + size));
      at += 4 + size;
      if (text === null) {
        out.push(refused);
        continue;
      }
      const answer = Buffer.from(text, 'utf8');
      const length = Buffer.allocUnsafe(4);
      length.writeUInt32LE(answer.length);
      out.push(length, answer);
    }
    writeAll(Buffer.concat(out));
  }
}

if (process.argv[1]?.endsWith('stringify.mjs')) serve();
