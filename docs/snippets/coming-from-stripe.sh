api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

# POST /v1/payment_intents with capture_method=manual
method='{"type":"card","number":"4242424242424242"}'
order="{\"amount\":1250,\"currency\":\"EUR\",\"captureMethod\":\"manual\",\"paymentMethod\":$method}"
payment=$(post developer_api_payments stripe-order "$order" | id pay)

# POST /v1/payment_intents/{id}/confirm
post "developer_api_payments/$payment/advance" stripe-confirm '{}'

# POST /v1/payment_intents/{id}/capture with amount_to_capture=1000; `final` releases the rest, as Stripe does by default
post "developer_api_payments/$payment/advance" stripe-capture '{"action":"capture","amount":1000,"final":true}'

# POST /v1/refunds
post "developer_api_payments/$payment/refund" stripe-refund '{"amount":250}'
