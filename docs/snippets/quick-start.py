# With the standard library alone: SANDBANK_API_KEY=sbk_sandbox_... python3 quick_start.py
import json, os, urllib.error, urllib.request

API = "http://127.0.0.1:4000/_api"


def call(path, body=None, key=None):
    headers = {"Authorization": f"Bearer {os.environ['SANDBANK_API_KEY']}", "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{API}/{path}", data, headers)) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as problem:
        error = json.load(problem)["error"]
        raise SystemExit(f"{error['code']}: {error['message']}")


payment = call("developer_api_payments", {"amount": 1250, "currency": "EUR", "reference": "quick-3"}, "quick-3")
print(payment["id"], payment["status"], payment["allowedActions"])

captured = call(f"developer_api_payments/{payment['id']}/advance", {"action": "capture"}, "quick-3-capture")
print(captured["status"], captured["amountCaptured"])

refund = call(f"developer_api_payments/{payment['id']}/refund", {"amount": 250}, "quick-3-refund")
print(refund["object"], refund["status"])
