api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

customer=$(post developer_api_customers customer-1 '{"name":"Grace Hopper","email":"grace@example.test","reference":"user-42"}' | id cus)
post "developer_api_customers/$customer/update" customer-1-update '{"phone":"+1 555 0100","metadata":{"plan":"gold"}}'
post developer_api_payments customer-1-order "{\"amount\":1250,\"currency\":\"EUR\",\"customerId\":\"$customer\"}"
get "developer_api_payments?customerId=$customer"

post "developer_api_customers/$customer/archive" customer-1-archive '{}'
post developer_api_payments customer-1-late "{\"amount\":1250,\"currency\":\"EUR\",\"customerId\":\"$customer\"}"
