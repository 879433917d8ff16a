api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

payment=$(post developer_api_payments dispute-order '{"amount":9900,"currency":"EUR"}' | id pay)
post "developer_api_payments/$payment/advance" dispute-settle '{"to":"settled"}'

# The customer's bank opens a dispute; the payment contains its id.
post "developer_api_payments/$payment/advance" dispute-open '{"action":"dispute","reason":"fraudulent"}'
dispute=$(get "developer_api_disputes?paymentId=$payment" | id dsp)

# Respond before the deadline, then the bank decides.
post "developer_api_disputes/$dispute/advance" dispute-answer '{"action":"submit_evidence","evidence":{"receipt":"signed by the customer"}}'
post "developer_api_disputes/$dispute/advance" dispute-win '{"action":"win"}'
get "developer_api_payments/$payment"
