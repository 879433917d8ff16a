# Compares the provider's report with our own records: SANDBANK_API_KEY=sbk_sandbox_... python3 reconcile.py
import csv, io, json, os, urllib.request, uuid

API = "http://127.0.0.1:4000/_api"


def call(path, body=None, accept="application/json"):
    headers = {"Authorization": f"Bearer {os.environ['SANDBANK_API_KEY']}", "Accept": accept,
               "Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{API}/{path}", data, headers)) as answer:
        return answer.read().decode()


# Our records: captured amounts by provider transaction id. One of the three is reported wrongly.
books = {}
for scenario in ["approve", "approve", "settle_short"]:
    payment = json.loads(call("developer_api_payments", {"amount": 10_000, "currency": "EUR", "scenario": scenario}))
    call(f"developer_api_payments/{payment['id']}/advance", {"to": "settled"})
    events = json.loads(call(f"developer_api_payments/{payment['id']}/provider_events"))["data"]
    books[events[0]["providerTransactionId"]] = 10_000

# The provider's report of the day, in the form of a real provider's file.
day = json.loads(call("developer_api_settlements"))["data"][0]["date"]
for line in csv.DictReader(io.StringIO(call(f"developer_api_settlements/{day}", accept="text/csv"))):
    ours, theirs = books.pop(line["provider_transaction_id"], None), int(line["gross"])
    if ours is not None:
        print("matched" if ours == theirs else f"differs by {theirs - ours}")
print(f"{len(books)} missing in the report")
