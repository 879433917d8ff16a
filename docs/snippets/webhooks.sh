api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

# Your URL and the event types you want. The response shows the secret, only this once.
response=$(post developer_api_webhooks hook-sh '{"url":"http://127.0.0.1:9000/","eventTypes":["payment.*"]}')
echo "$response"
webhook=$(echo "$response" | id whk)

# Send one real, signed event now. The response contains the receiver's response.
post "developer_api_webhooks/$webhook/test" hook-sh-test '{}'

# From now on, every payment event is sent to the endpoint.
post developer_api_payments hook-sh-order '{"amount":1250,"currency":"EUR"}'
get "developer_api_webhook_events?type=payment.created&limit=1"
