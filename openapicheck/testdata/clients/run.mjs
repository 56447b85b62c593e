// node run.mjs PROGRAM DESCRIPTIONS COMMAND...: runs a command against a sandbox, as `PROGRAM serve` starts it, and holds every answer
// against the descriptions in the folder. It fails when one differs, or when an operation was not called.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { createInterface } from "node:readline";
import Ajv from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { parse } from "yaml";

const [program, folder, ...command] = process.argv.slice(2);
const ajv = formats(new Ajv({ strict: false, allErrors: true }));
const broken = [];
const uncalled = new Set();

// read returns the operations of a description, their schemas compiled.
function read(file, prefix) {
  const doc = parse(readFileSync(`${folder}/${file}`, "utf8"));
  const whole = (node) => {
    if (Array.isArray(node)) return node.map(whole);
    if (node === null || typeof node !== "object") return node;
    const { $ref, ...rest } = node;
    const target = $ref && whole($ref.slice(2).split("/").reduce((found, part) => found[part], doc));
    return { ...target, ...Object.fromEntries(Object.entries(rest).map(([name, child]) => [name, whole(child)])) };
  };
  return Object.entries(whole(doc.paths)).flatMap(([path, item]) =>
    ["get", "post", "delete", "put", "patch"].filter((method) => item[method]).map((method) => {
      const { operationId, responses } = item[method];
      uncalled.add(operationId + " of " + file);
      for (const response of Object.values(responses)) {
        for (const media of Object.values(response.content ?? {})) media.fits = ajv.compile(media.schema);
      }
      const pattern = new RegExp("^" + prefix + path.replace(/\{\w+\}/g, "[^/]+") + "$");
      return { name: operationId + " of " + file, method: method.toUpperCase(), pattern, responses, parts: path.split("{").length };
    }));
}

const operations = [...read("openapi.yaml", ""), ...read("control.yaml", "/_/api/v1")].sort((a, b) => a.parts - b.parts);

// check holds an answer against its operation.
function check(method, url, answer, body) {
  const path = new URL(url, "http://sandbox").pathname;
  const operation = operations.find((o) => o.method === method && o.pattern.test(path));
  if (!operation) return broken.push(`${method} ${path} is not described`);
  uncalled.delete(operation.name);
  const status = String(answer.statusCode);
  const response = operation.responses[status] ?? operation.responses[status[0] + "XX"] ?? operation.responses.default;
  if (!response) return broken.push(`${operation.name}: ${status} is not described`);
  const type = (answer.headers["content-type"] ?? "").split(";")[0];
  if (!response.content) return body.length && broken.push(`${operation.name}: ${status} has a body`);
  const media = response.content[type];
  if (!media) return broken.push(`${operation.name}: ${status} has the type "${type}"`);
  if (type === "application/json" && !media.fits(JSON.parse(body))) {
    broken.push(`${operation.name}: ${status}: ${ajv.errorsText(media.fits.errors)}: ${body}`);
  }
}

const sandbox = spawn(program, ["serve", "--memory", "--addr", "127.0.0.1:0", "--json"], { stdio: ["ignore", "pipe", "ignore"] });
process.on("exit", () => sandbox.kill());
const [line] = await once(createInterface(sandbox.stdout), "line");
const found = JSON.parse(line);

const proxy = createServer((inbound, outbound) => {
  const { host, ...headers } = inbound.headers;
  const onward = request(found.listening + inbound.url, { method: inbound.method, headers }, async (answer) => {
    outbound.writeHead(answer.statusCode, answer.headers);
    if (answer.headers["content-type"] === "text/event-stream") {
      check(inbound.method, inbound.url, answer, "");
      return answer.pipe(outbound);
    }
    const body = Buffer.concat(await answer.toArray());
    check(inbound.method, inbound.url, answer, body);
    outbound.end(body);
  });
  onward.on("error", () => outbound.destroy());
  outbound.on("close", () => onward.destroy());
  inbound.pipe(onward);
});
await once(proxy.listen(0, "127.0.0.1"), "listening");

// A page without contents, with the offsets of its objects.
function onePage() {
  const objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>"];
  let file = "%PDF-1.4\n", table = "0000000000 65535 f \n";
  objects.forEach((object, i) => {
    table += String(file.length).padStart(10, "0") + " 00000 n \n";
    file += `${i + 1} 0 obj${object}endobj\n`;
  });
  return `${file}xref\n0 4\n${table}trailer<</Size 4/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
}

const env = {
  ...process.env,
  SIGNFORMS_BASE_URL: `http://127.0.0.1:${proxy.address().port}`, SIGNFORMS_API_KEY: found.apiKey, SIGNFORMS_WORKSPACE_ID: found.workspaceId,
  PDF: Buffer.from(onePage()).toString("base64"),
  PNG: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
};
const [code] = await once(spawn(command[0], command.slice(1), { env, stdio: ["ignore", "inherit", "inherit"] }), "exit");
for (const difference of broken) console.error(difference);
if (code === 0) for (const name of uncalled) console.error(`not called: ${name}`);
process.exit(code === 0 && broken.length === 0 && uncalled.size === 0 ? 0 : 1);
