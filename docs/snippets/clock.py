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


show(call("developer_api_clock/freeze", {}, "clock-py-freeze"))

# An authorization holds for seven days.
order = {"amount": 7700, "currency": "EUR", "captureMethod": "manual"}
payment = f"developer_api_payments/{call('developer_api_payments', order, 'clock-py-order')['id']}"
show(call(f"{payment}/advance", {"action": "authorize"}, "clock-py-authorize"))

# Advance a week in milliseconds. The response lists everything that happened.
show(call("developer_api_clock/advance", {"seconds": 604800}, "clock-py-week"))
show(call(payment))

show(call("developer_api_clock/reset", {}, "clock-py-reset"))
