api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

# Where you listen, and what you want to hear of. The answer shows the secret, this once.
answer=$(post developer_api_webhooks hook-1 '{"url":"http://127.0.0.1:9000/","eventTypes":["payment.*"]}')
echo "$answer"
webhook=$(echo "$answer" | id whk)

# One real, signed event, now: the answer has what the receiver said.
post "developer_api_webhooks/$webhook/test" hook-1-test '{}'

# From here on, every event of a payment comes by itself.
post developer_api_payments hook-order '{"amount":1250,"currency":"EUR"}'
get "developer_api_webhook_events?type=payment.created&limit=1"
