// A receiver as the service documents it for JavaScript: HMAC-SHA256 in hex over the timestamp, a full stop and
// JSON.stringify of the parsed body. With Express where it is installed beside this file, else with node:http.
"use strict";
const crypto = require("node:crypto");
const http = require("node:http");
const secret = process.env.RECEIVER_SECRET;

function genuine(headers, payload) {
  const timestamp = headers["x-timestamp"];
  const age = Date.now() / 1000 - Number(timestamp);
  if (!(Math.abs(age) <= 300)) return false;
  const want = crypto.createHmac("sha256", secret).update(timestamp + "." + JSON.stringify(payload)).digest();
  const got = Buffer.from(String(headers["x-signature"]), "hex");
  return got.length === want.length && crypto.timingSafeEqual(got, want);
}

function cpu() {
  const used = process.cpuUsage();
  return String(used.user + used.system);
}

function withExpress(express) {
  const app = express();
  app.get("/cpu", (req, res) => res.type("text/plain").send(cpu()));
  app.post("/webhook", express.json({ limit: "1mb" }), (req, res) => {
    if (!genuine(req.headers, req.body)) return res.status(401).json({ status: "unauthorized" });
    res.json({ status: "ok" });
  });
  return app;
}

function withoutExpress(req, res) {
  if (req.method === "GET") return res.end(cpu());
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => {
    let payload;
    try {
      payload = JSON.parse(Buffer.concat(chunks).toString());
    } catch {
      res.writeHead(400);
      return res.end();
    }
    const ok = genuine(req.headers, payload);
    res.writeHead(ok ? 200 : 401, { "Content-Type": "application/json" });
    res.end(JSON.stringify({ status: ok ? "ok" : "unauthorized" }));
  });
}

const receiver = process.env.RECEIVER_EXPRESS ? withExpress(require("express")) : withoutExpress;
const server = http.createServer(receiver).listen(0, "127.0.0.1", () => {
  console.log("listening " + server.address().address + ":" + server.address().port);
});
process.stdin.on("end", () => process.exit()).resume();
