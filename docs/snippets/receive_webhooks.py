# A receiver in Python, with the standard library alone: WEBHOOK_SECRET=whsec_... python3 receive_webhooks.py
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECONDS = 300
seen = set()  # In earnest: a unique index in your database.


def verify(headers, body: bytes) -> dict:
    """Returns the event, or raises ValueError."""
    event_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the timestamp is too far away")
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    # One signature for each secret: two while a secret is being rotated.
    for part in headers["webhook-signature"].split(" "):
        version, _, signature = part.partition(",")
        if version == "v1" and hmac.compare_digest(signature, expected):
            return json.loads(body)
    raise ValueError("no signature fits")


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = verify(self.headers, body)
        except (KeyError, TypeError, ValueError) as problem:
            self.send_response(400)
            self.end_headers()
            self.wfile.write(str(problem).encode())
            return
        if event["id"] not in seen:
            seen.add(event["id"])
            print(event["type"], event["id"], flush=True)
        self.send_response(204)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
