# Sends a write until it gets a response. Choose the key once, before the first attempt.
import json, os, random, time, urllib.error, urllib.request, uuid

API = "http://127.0.0.1:4000/_api"
ATTEMPTS_MAX = 5


def post(path, body, key=None):
    headers = {
        "Authorization": f"Bearer {os.environ['SANDBANK_API_KEY']}",
        "Content-Type": "application/json",
        "Idempotency-Key": key or str(uuid.uuid4()),
    }
    request = urllib.request.Request(f"{API}/{path}", json.dumps(body).encode(), headers)
    for attempt in range(1, ATTEMPTS_MAX + 1):
        wait = random.random() * 2**attempt * 0.1
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            problem = json.load(error)["error"]
            if not problem["retryable"] or attempt == ATTEMPTS_MAX:
                raise RuntimeError(problem["code"]) from error
            wait = float(error.headers.get("Retry-After") or wait)
        except OSError:  # No response: the outcome is unknown, so retry with the same key.
            if attempt == ATTEMPTS_MAX:
                raise
        time.sleep(wait)


print(post("developer_api_payments", {"amount": 4200, "currency": "USD"})["status"])
