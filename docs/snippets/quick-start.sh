api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

# Create a payment of 12.50 EUR. The idempotency key makes it safe to send twice.
payment=$(post developer_api_payments quick-sh '{"amount":1250,"currency":"EUR","reference":"quick-sh"}' | id pay)
get "developer_api_payments/$payment"

# Capture it, then refund a part.
post "developer_api_payments/$payment/advance" quick-sh-capture '{"action":"capture"}'
post "developer_api_payments/$payment/refund" quick-sh-refund '{"amount":250,"reason":"one item came back"}'

# Read its history and its ledger balances.
get "developer_api_payments/$payment/history"
get "developer_api_balances?paymentId=$payment"
