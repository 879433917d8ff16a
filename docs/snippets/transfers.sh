api=http://127.0.0.1:4000/_api
post() {
  curl -sS -X POST "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -H "Idempotency-Key: $2" -H "Content-Type: application/json" -d "$3"; echo
}
get() { curl -sS "$api/$1" -H "Authorization: Bearer $SANDBANK_API_KEY"; echo; }
id() { grep -o "\"id\":\"$1_[0-9a-z]*\"" | head -1 | cut -d\" -f4; }

transfer=$(post developer_api_transfers rent-1 '{"sourceCurrency":"EUR","targetCurrency":"USD","sourceAmount":10000,"beneficiary":{"name":"Grace Hopper"}}' | id trf)
get "developer_api_transfers/$transfer"

post "developer_api_transfers/$transfer/advance" rent-1-accept '{"action":"accept"}'
post "developer_api_transfers/$transfer/advance?expand=ledgerEntries" rent-1-arrive '{"to":"completed"}'
