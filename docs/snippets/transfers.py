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


quote = {
    "sourceCurrency": "EUR",
    "targetCurrency": "USD",
    "sourceAmount": 10000,
    "beneficiary": {"name": "Grace Hopper"},
}
transfer = call("developer_api_transfers", quote, "rent-py")
show(transfer)

path = f"developer_api_transfers/{transfer['id']}/advance"
show(call(path, {"action": "accept"}, "rent-py-accept"))
show(call(f"{path}?expand=ledgerEntries", {"to": "completed"}, "rent-py-arrive"))
