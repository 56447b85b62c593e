// The whole loop over HTTP, in plain Node: node --test loop.test.mjs, with the variables of serve --env-file.
import test from "node:test";
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createHmac } from "node:crypto";

const env = process.env;
const base = env.SIGNFORMS_BASE_URL;
const headers = env.SIGNFORMS_SANDBOX_TOKEN ? { authorization: `Bearer ${env.SIGNFORMS_SANDBOX_TOKEN}` } : {};

async function api(method, path, body) {
  const answer = await fetch(base + path, {
    method,
    headers: { "x-api-key": env.SIGNFORMS_API_KEY, workspaceid: env.SIGNFORMS_WORKSPACE_ID, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  return { status: answer.status, retryAfter: answer.headers.get("retry-after"), body: await answer.json() };
}

async function control(method, path, body) {
  const answer = await fetch(base + "/_/api/v1" + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

// A receiver that checks signatures as the interface documents them, and refuses the first request. RECEIVER_HOST is the name of this
// machine in the container of a sandbox.
function receiver() {
  const host = env.RECEIVER_HOST ?? "127.0.0.1";
  const events = [];
  let requests = 0;
  const server = createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const payload = JSON.parse(Buffer.concat(chunks).toString());
    const signed = req.headers["x-timestamp"] + "." + JSON.stringify(payload);
    const want = createHmac("sha256", env.SIGNFORMS_WEBHOOK_SECRETS).update(signed).digest("hex");
    if (req.headers["x-signature"] !== want) return res.writeHead(401).end();
    if (requests++ === 0) return res.writeHead(500).end();
    events.push(...(Array.isArray(payload) ? payload : [payload]));
    res.writeHead(200).end();
  });
  return new Promise((resolve) => server.listen(0, env.RECEIVER_HOST ? "0.0.0.0" : host, () => resolve({ server, events, url: `http://${host}:${server.address().port}/hook` })));
}

test("the whole loop", async (t) => {
  const inbox = await receiver();
  t.after(() => inbox.server.close());

  const { keys } = await control("POST", "/seed", {
    templates: [{ key: "offer", name: "Offer", roles: [{ title: "Buyer" }, { title: "Seller" }], signingOrder: true }],
    forms: [{ key: "intake", title: "Intake", fields: [{ question: "Name", required: true }] }],
    webhooks: [
      { url: inbox.url, event: "new_template_response", documents: ["offer"] },
      { url: inbox.url, event: "new_form_response" },
    ],
  });

  const sent = await api("POST", "/pdf-template-lambda", {
    signingType: "PDF_TEMPLATE", documentId: keys.offer,
    receiversList: [
      { name: "Ann", email: "ann@example.com", roleTitle: "Buyer" },
      { name: "Ben", email: "ben@example.com", roleTitle: "Seller" },
    ],
    mailData: { subject: "Please sign", message: "By Friday." },
  });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const document = sent.body.createdDocumentId;

  const tooEarly = await fetch(`${base}/_/api/v1/documents/${document}/sign`, { method: "POST", headers, body: JSON.stringify({ signer: "ben@example.com" }) });
  assert.equal(tooEarly.status, 409);
  assert.equal((await tooEarly.json()).error.code, "refused");

  const reference = { documentId: keys.offer, documentType: "PDF_TEMPLATE", responseId: document };
  const query = "?" + new URLSearchParams(reference);
  for (let i = 0; i < 5; i++) assert.equal((await api("POST", "/send-reminder" + query, reference)).status, 200);
  const limited = await api("POST", "/send-reminder" + query, reference);
  assert.equal(limited.status, 429);
  await control("POST", "/clock/advance", { by: "16m" });
  assert.equal((await api("POST", "/send-reminder" + query, reference)).status, 200);

  await control("POST", `/documents/${document}/sign`, { signer: "ann@example.com" });
  const done = await control("POST", `/documents/${document}/sign`, { signer: "ben@example.com", fields: [{ kind: "text", page: 1, label: "Seller", value: "Ben" }] });
  assert.equal(done.status, "SIGNED");
  await control("POST", `/forms/${keys.intake}/submit`, { answers: { Name: "Cy" } });

  await control("POST", "/clock/advance", { by: "3d" });
  const types = inbox.events.map((e) => e.webhookEvent);
  assert.ok(types.includes("new_template_response"), types.join());
  assert.ok(types.includes("new_form_response"), types.join());

  const deliveries = await control("GET", "/deliveries?status=delivered");
  assert.equal(deliveries.total, types.length);
  assert.ok(deliveries.items.some((d) => d.attempts.length === 2), "the refused one was repeated");
  const before = inbox.events.length;
  await control("POST", `/deliveries/${deliveries.items[0].id}/resend`);
  await control("POST", "/clock/settle", { timeout: "20s" });
  assert.equal(inbox.events.length, before + 1);

  const { items } = await control("GET", "/requests?operation=send+reminder&status=429");
  assert.equal(items.length, 1);
  const trail = await control("GET", `/audit?documentId=${document}`);
  assert.deepEqual(trail.items.slice(-2).map((entry) => entry.action), ["sign", "complete"]);
});
