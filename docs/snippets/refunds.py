import json, os, urllib.error, urllib.request

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


order = {"amount": 5000, "currency": "EUR", "scenario": "refund_pending"}
payment = f"developer_api_payments/{call('developer_api_payments', order, 'refund-py-order')['id']}"
show(call(f"{payment}/advance", {"action": "capture"}, "refund-py-capture"))

# The refund is pending, and its amount is already reserved.
refund = call(f"{payment}/refund", {"amount": 2000, "reason": "one item came back"}, "refund-py-1")
show(call(payment))
show(call(f"developer_api_refunds/{refund['id']}/advance", {"action": "succeed"}, "refund-py-1-arrives"))

# More than the remaining amount is rejected, and nothing changes.
try:
    call(f"{payment}/refund", {"amount": 999999}, "refund-py-2")
except urllib.error.HTTPError as error:
    print(json.load(error)["error"]["code"])
