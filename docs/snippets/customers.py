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


grace = {"name": "Grace Hopper", "email": "grace@example.test", "reference": "user-42"}
customer = call("developer_api_customers", grace, "customer-py")["id"]
changes = {"phone": "+1 555 0100", "metadata": {"plan": "gold"}}
show(call(f"developer_api_customers/{customer}/update", changes, "customer-py-update"))
order = {"amount": 1250, "currency": "EUR", "customerId": customer}
show(call("developer_api_payments", order, "customer-py-order"))
show(call(f"developer_api_payments?customerId={customer}"))

show(call(f"developer_api_customers/{customer}/archive", {}, "customer-py-archive"))
try:
    call("developer_api_payments", order, "customer-py-late")
except urllib.error.HTTPError as error:
    print(json.load(error)["error"]["code"])
