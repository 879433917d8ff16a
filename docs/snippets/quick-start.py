import json, os, urllib.request

API = "http://127.0.0.1:4000/_api"


def call(path, body=None, key=None):
    headers = {"Authorization": f"Bearer {os.environ['SANDBANK_API_KEY']}", "Content-Type": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{API}/{path}", data, headers)) as response:
        return json.load(response)


def show(record):
    print(record["object"], record["status"])


# Create a payment of 12.50 EUR. The idempotency key makes it safe to send twice.
payment = call("developer_api_payments", {"amount": 1250, "currency": "EUR", "reference": "quick-py"}, "quick-py")
show(payment)

# Capture it, then refund a part.
show(call(f"developer_api_payments/{payment['id']}/advance", {"action": "capture"}, "quick-py-capture"))
refund = {"amount": 250, "reason": "one item came back"}
show(call(f"developer_api_payments/{payment['id']}/refund", refund, "quick-py-refund"))

# Read its history and its ledger balances.
show(call(f"developer_api_payments/{payment['id']}/history"))
show(call(f"developer_api_balances?paymentId={payment['id']}"))
