// A webhook receiver as the interface documents it: HMAC-SHA256 over x-timestamp, a full stop and the serialised payload.
import { createServer } from "node:http";
import { createHmac } from "node:crypto";
const server = createServer(async (req, res) => {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const payload = JSON.parse(Buffer.concat(chunks).toString());
  const signed = req.headers["x-timestamp"] + "." + JSON.stringify(payload);
  const want = createHmac("sha256", process.env.SECRET).update(signed).digest("hex");
  res.writeHead(req.headers["x-signature"] === want ? 200 : 401).end('{"status":"ok"}');
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
