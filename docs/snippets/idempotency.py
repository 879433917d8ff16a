import json, os, urllib.error, urllib.request


def create(amount):
    request = urllib.request.Request(
        "http://127.0.0.1:4000/_api/developer_api_payments",
        json.dumps({"amount": amount, "currency": "EUR"}).encode(),
        {
            "Authorization": f"Bearer {os.environ['SANDBANK_API_KEY']}",
            "Content-Type": "application/json",
            "Idempotency-Key": "invoice-79",
        },
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["id"], response.headers["Idempotent-Replayed"]


first, _ = create(1250)  # created
second, replayed = create(1250)  # the same response, no second payment
print(first == second, replayed)  # True true

try:
    create(9900)  # a different request with the same key
except urllib.error.HTTPError as error:
    print(error.code, json.load(error)["error"]["code"])  # 422 idempotency_key_reused
