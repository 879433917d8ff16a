api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

payment=$(post developer_api_payments refund-order '{"amount":5000,"currency":"EUR","scenario":"refund_pending"}' | id pay)
post "developer_api_payments/$payment/advance" refund-capture '{"action":"capture"}'

# The refund is pending, and its amount is already reserved.
refund=$(post "developer_api_payments/$payment/refund" refund-1 '{"amount":2000,"reason":"one item came back"}' | id rfd)
get "developer_api_payments/$payment"
post "developer_api_refunds/$refund/advance" refund-1-arrives '{"action":"succeed"}'

# More than the remaining amount is rejected, and nothing changes.
post "developer_api_payments/$payment/refund" refund-2 '{"amount":999999}'
