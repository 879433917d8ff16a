# A receiver on Flask: WEBHOOK_SECRET=whsec_... flask --app receiver run --port 3000
import base64
import hashlib
import hmac
import json
import os
import re
import threading
import time

from flask import Flask, abort, request

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"), validate=True)
TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1_000_000

app = Flask(__name__)
lock = threading.Lock()
seen = set()


def is_new(event_id: str) -> bool:
    """In production, insert the id into a table with a unique index, in the transaction that does the work."""
    with lock:
        if event_id in seen:
            return False
        seen.add(event_id)
        return True


def is_signed(headers, body: bytes) -> bool:
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not event_id or not re.fullmatch("[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
    # One signature for each secret: two during a secret rotation.
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(signature.encode(), expected) for signature in signatures)


@app.post("/webhooks")  # Flask responds with 405 to other methods.
def receive():
    if request.content_length is None:
        abort(411)
    if request.content_length > BODY_BYTES_MAX:
        abort(413)
    # Verify the raw bytes: a parsed and re-serialized body has another signature.
    body = request.get_data()
    if not is_signed(request.headers, body):
        abort(401)
    try:
        event = json.loads(body)
    except ValueError:
        abort(400)
    # The same event can arrive twice, after a retry or a replay. Its id stays the same.
    if is_new(event["id"]):
        print(event["type"], event["id"], flush=True)  # Hand slow work to a queue: respond first.
    return "", 204
