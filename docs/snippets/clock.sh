api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

post developer_api_clock/freeze clock-freeze '{}'

# An authorization holds for seven days.
payment=$(post developer_api_payments clock-order '{"amount":7700,"currency":"EUR","captureMethod":"manual"}' | id pay)
post "developer_api_payments/$payment/advance" clock-authorize '{"action":"authorize"}'

# Advance a week in milliseconds. The response lists everything that happened.
post developer_api_clock/advance clock-week '{"seconds":604800}'
get "developer_api_payments/$payment"

post developer_api_clock/reset clock-reset '{}'
