api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

# The first attempt is declined, the second approved.
scenario='["decline:insufficient_funds","approve"]'
payment=$(post developer_api_payments try-1 "{\"amount\":4200,\"currency\":\"USD\",\"scenario\":$scenario}" | id pay)
post "developer_api_payments/$payment/advance" try-1-first '{}'
post "developer_api_payments/$payment/advance" try-1-again '{"action":"retry"}'
post "developer_api_payments/$payment/advance" try-1-second '{}'

# A test card selects a scenario as well: this one requires 3-D Secure first.
method='{"type":"card","number":"4000002500003155"}'
secured=$(post developer_api_payments try-2 "{\"amount\":4200,\"currency\":\"USD\",\"paymentMethod\":$method}" | id pay)
post "developer_api_payments/$secured/advance" try-2-first '{}'

# Any state can be reached in one call.
charged=$(post developer_api_payments try-3 '{"amount":9900,"currency":"JPY"}' | id pay)
post "developer_api_payments/$charged/advance" try-3-charged-back '{"to":"charged_back"}'
