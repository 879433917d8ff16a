# A receiver in Python, standard library only: WEBHOOK_SECRET=whsec_... python3 receive_webhooks.py
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1_000_000
seen = set()  # In production, use a unique index in your database.


def verify(headers, body: bytes) -> dict:
    """Returns the event, or raises ValueError."""
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is too old or in the future")
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
    # One signature for each secret: two during a secret rotation.
    for part in headers.get("webhook-signature", "").split(" "):
        version, _, signature = part.partition(",")
        if version == "v1" and hmac.compare_digest(signature.encode(), expected):
            return json.loads(body)
    raise ValueError("no matching signature")


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            self.close_connection = True
            return self.respond(413)
        body = self.rfile.read(int(length))
        try:
            event = verify(self.headers, body)
        except ValueError:
            return self.respond(400)
        # The same event can arrive twice, after a retry or a replay. Its id stays the same.
        if event["id"] not in seen:
            seen.add(event["id"])
            print(event["type"], event["id"], flush=True)
        self.respond(204)

    def do_GET(self):
        self.respond(405)

    do_HEAD = do_PUT = do_PATCH = do_DELETE = do_GET

    def respond(self, status: int):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
