api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

# A pending payment cannot be settled. The error names the allowed actions.
payment=$(post developer_api_payments error-sh '{"amount":1250,"currency":"EUR"}' | id pay)
post "developer_api_payments/$payment/advance" error-sh-settle '{"action":"settle"}'

# An invalid value is rejected, and `param` points to it.
post developer_api_payments error-sh-amount '{"amount":-1,"currency":"EUR"}'
