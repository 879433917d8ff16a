import json, os, urllib.parse, urllib.request

API = "http://127.0.0.1:4000/_api"


def get(path):
    headers = {"Authorization": f"Bearer {os.environ['SANDBANK_API_KEY']}"}
    with urllib.request.urlopen(urllib.request.Request(f"{API}/{path}", headers=headers)) as response:
        return json.load(response)


def pending():
    """Every pending payment, page by page. A cursor stays valid while new payments arrive."""
    query = {"status": "pending", "limit": 100}
    while True:
        page = get(f"developer_api_payments?{urllib.parse.urlencode(query)}")
        yield from page["data"]
        if not page["hasMore"]:
            return
        query["cursor"] = page["nextCursor"]


print("pending payments:", sum(1 for payment in pending()))
