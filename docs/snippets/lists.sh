# Every pending payment, page by page. A cursor stays valid while new payments arrive.
count=0
cursor=
while
  page=$(curl -sS -G http://127.0.0.1:4000/_api/developer_api_payments -H "Authorization: Bearer $SANDBANK_API_KEY" \
    -d status=pending -d limit=100 ${cursor:+--data-urlencode "cursor=$cursor"})
  count=$((count + $(echo "$page" | grep -o '"id":"pay_[0-9a-z]*"' | wc -l)))
  cursor=$(echo "$page" | sed -n 's/.*"nextCursor":"\([^"]*\)".*/\1/p')
  [ -n "$cursor" ]
do :; done
echo "pending payments: $count"
