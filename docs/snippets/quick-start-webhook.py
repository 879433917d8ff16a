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


# Your URL and the event types you want. The response shows the secret, only this once.
endpoint = {"url": "http://127.0.0.1:9001/", "eventTypes": ["payment.*"]}
webhook = call("developer_api_webhooks", endpoint, "quick-hook-py")
show(webhook)

# Send one real, signed event now. The response contains the receiver's response.
show(call(f"developer_api_webhooks/{webhook['id']}/test", {}, "quick-hook-py-test"))

# From now on, every payment event is sent to the endpoint.
show(call("developer_api_payments", {"amount": 1250, "currency": "EUR"}, "quick-hook-py-order"))
show(call("developer_api_webhook_events?type=payment.created&limit=1"))
