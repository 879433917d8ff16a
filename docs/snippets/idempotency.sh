create() {
  curl -sS -i http://127.0.0.1:4000/_api/developer_api_payments \
    -H "Authorization: Bearer $SANDBANK_API_KEY" -H "Content-Type: application/json" \
    -H "Idempotency-Key: invoice-77" -d "$1" | grep -iE '^(HTTP|idempotent)|"code"|"id"'
}

create '{"amount":1250,"currency":"EUR"}'   # 201: created
create '{"currency":"EUR","amount":1250}'   # 201, Idempotent-Replayed: true: the same response, no second payment
create '{"amount":9900,"currency":"EUR"}'   # 422 idempotency_key_reused: a different request with the same key
