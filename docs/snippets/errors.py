import json, os, urllib.error, urllib.request

API = "http://127.0.0.1:4000/_api"


class ApiError(Exception):
    """An error response. Decide by `code`; log `request_id` to find the request in the console."""

    def __init__(self, body):
        super().__init__(body["error"]["message"])
        self.request_id = body["requestId"]
        self.code = body["error"]["code"]
        self.param = body["error"].get("param")
        self.allowed_actions = body["error"].get("allowedActions", [])


def post(path, body, key):
    headers = {
        "Authorization": f"Bearer {os.environ['SANDBANK_API_KEY']}",
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    try:
        request = urllib.request.Request(f"{API}/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise ApiError(json.load(error)) from error


payment = post("developer_api_payments", {"amount": 1250, "currency": "EUR"}, "error-py")

# A pending payment cannot be settled. The error names the allowed actions.
try:
    post(f"developer_api_payments/{payment['id']}/advance", {"action": "settle"}, "error-py-settle")
except ApiError as error:
    print(error.code, "capture" in error.allowed_actions)

# An invalid value is rejected, and `param` points to it.
try:
    post("developer_api_payments", {"amount": -1, "currency": "EUR"}, "error-py-amount")
except ApiError as error:
    print(error.code, error.param)
