// A receiver of webhooks in plain Node: node receiver.mjs, with SECRET and PORT. It prints what it received.
import { createServer } from "node:http";
import { createHmac, timingSafeEqual } from "node:crypto";

function genuine(headers, payload) {
  const signed = headers["x-timestamp"] + "." + JSON.stringify(payload);
  const want = createHmac("sha256", process.env.SECRET).update(signed).digest();
  const got = Buffer.from(headers["x-signature"] ?? "", "hex");
  return got.length === want.length && timingSafeEqual(got, want);
}

const server = createServer(async (req, res) => {
  try {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const payload = JSON.parse(Buffer.concat(chunks).toString());
    if (!genuine(req.headers, payload)) return res.writeHead(401).end();
    for (const event of [payload].flat()) console.log(event.webhookEvent, event.documentName ?? event.formTitle ?? "");
    res.writeHead(200).end();
  } catch {
    res.writeHead(400).end();
  }
});
server.listen(Number(process.env.PORT ?? 3000), () => console.log("listening on", server.address().port));
process.once("SIGTERM", () => server.close());
