"""The whole loop over HTTP, with Python's standard library: python3 test_loop.py, with the variables of serve --env-file."""
import hashlib
import hmac
import http.server
import json
import os
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request

BASE = os.environ["SIGNFORMS_BASE_URL"]
SECRET = os.environ["SIGNFORMS_WEBHOOK_SECRETS"].encode()


def call(method, url, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"null")


def api(method, path, body=None):
    return call(method, BASE + path, body, {
        "x-api-key": os.environ["SIGNFORMS_API_KEY"], "workspaceid": os.environ["SIGNFORMS_WORKSPACE_ID"], "Content-Type": "application/json",
    })


def control(method, path, body=None):
    status, answer = call(method, BASE + "/_/api/v1" + path, body)
    assert status < 300, (method, path, status, answer)
    return answer


class Receiver(http.server.BaseHTTPRequestHandler):
    """Checks signatures as the interface documents them, and refuses the first request."""

    events, requests, lock = [], 0, threading.Lock()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = self.headers["x-timestamp"].encode() + b"." + body  # the service signs what JSON.stringify writes
        want = hmac.new(SECRET, signed, hashlib.sha256).hexdigest()
        with self.lock:
            status = 200
            if not hmac.compare_digest(want, self.headers["x-signature"]):
                status = 401
            elif Receiver.requests == 0:
                status = 500
            else:
                payload = json.loads(body)
                self.events.extend(payload if isinstance(payload, list) else [payload])
            Receiver.requests += 1
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


class WholeLoop(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.hook = "http://127.0.0.1:%d/hook" % self.server.server_port

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def test_loop(self):
        seeded = control("POST", "/seed", {
            "templates": [{"key": "offer", "name": "Offer", "roles": [{"title": "Buyer"}, {"title": "Seller"}], "signingOrder": True}],
            "webhooks": [{"url": self.hook, "event": "new_template_response", "documents": ["offer"]}],
        })
        keys = seeded["keys"]
        status, sent = api("POST", "/pdf-template-lambda", {
            "signingType": "PDF_TEMPLATE", "documentId": keys["offer"],
            "receiversList": [
                {"name": "Ann", "email": "ann@example.com", "roleTitle": "Buyer"},
                {"name": "Ben", "email": "ben@example.com", "roleTitle": "Seller"},
            ],
            "mailData": {"subject": "Please sign", "message": "By Friday."},
        })
        self.assertEqual(200, status, sent)
        document = sent["createdDocumentId"]

        status, refused = call("POST", BASE + "/_/api/v1/documents/%s/sign" % document, {"signer": "ben@example.com"})
        self.assertEqual((409, "refused"), (status, refused["error"]["code"]))

        reference = {"documentId": keys["offer"], "documentType": "PDF_TEMPLATE", "responseId": document}
        path = "/send-reminder?" + urllib.parse.urlencode(reference)
        self.assertEqual([200] * 5 + [429], [api("POST", path, reference)[0] for _ in range(6)])
        control("POST", "/clock/advance", {"by": "16m"})
        self.assertEqual(200, api("POST", path, reference)[0])

        control("POST", "/documents/%s/sign" % document, {"signer": "ann@example.com"})
        signed = control("POST", "/documents/%s/sign" % document, {"signer": "ben@example.com"})
        self.assertEqual("SIGNED", signed["status"])

        control("POST", "/clock/advance", {"by": "3d"})
        types = [event["webhookEvent"] for event in Receiver.events]
        self.assertIn("new_template_response", types)
        delivered = control("GET", "/deliveries?status=delivered&webhookId=" + seeded["webhooks"][0])
        self.assertEqual(len(types), delivered["total"])
        self.assertTrue(any(len(d["attempts"]) == 2 for d in delivered["items"]), "the refused one was repeated")

        control("POST", "/deliveries/%s/resend" % delivered["items"][0]["id"])
        control("POST", "/clock/settle", {"timeout": "20s"})
        self.assertEqual(len(types) + 1, len(Receiver.events))


if __name__ == "__main__":
    unittest.main()
