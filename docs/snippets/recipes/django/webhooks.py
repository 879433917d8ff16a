# The view. In urls.py: path("webhooks", webhooks.receive)
import base64
import hashlib
import hmac
import json
import os
import re
import threading
import time

from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"), validate=True)
TOLERANCE_SECONDS = 300

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


@csrf_exempt  # The sender has no session; the signature authenticates the request.
@require_POST  # 405 for other methods
def receive(request):
    try:
        # Verify the raw bytes: a parsed and re-serialized body has another signature.
        body = request.body
    except RequestDataTooBig:  # above the setting DATA_UPLOAD_MAX_MEMORY_SIZE, 2.5 MB by default
        return HttpResponse(status=413)
    if not is_signed(request.headers, body):
        return HttpResponse(status=401)
    try:
        event = json.loads(body)
    except ValueError:
        return HttpResponse(status=400)
    # The same event can arrive twice, after a retry or a replay. Its id stays the same.
    if is_new(event["id"]):
        print(event["type"], event["id"], flush=True)  # Hand slow work to a queue: respond first.
    return HttpResponse(status=204)
