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


def create(body, key):
    return f"developer_api_payments/{call('developer_api_payments', body, key)['id']}"


# The first attempt is declined, the second approved.
scenario = ["decline:insufficient_funds", "approve"]
declined = create({"amount": 4200, "currency": "USD", "scenario": scenario}, "try-py-1")
show(call(f"{declined}/advance", {}, "try-py-1-first"))
show(call(f"{declined}/advance", {"action": "retry"}, "try-py-1-again"))
show(call(f"{declined}/advance", {}, "try-py-1-second"))

# A test card selects a scenario as well: this one requires 3-D Secure first.
card = {"type": "card", "number": "4000002500003155"}
secured = create({"amount": 4200, "currency": "USD", "paymentMethod": card}, "try-py-2")
show(call(f"{secured}/advance", {}, "try-py-2-first"))

# Any state can be reached in one call.
charged = create({"amount": 9900, "currency": "JPY"}, "try-py-3")
show(call(f"{charged}/advance", {"to": "charged_back"}, "try-py-3-charged-back"))
