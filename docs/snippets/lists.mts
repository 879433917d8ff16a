// Every captured payment, page by page. A cursor stays valid while new payments arrive.
const api = 'http://127.0.0.1:4000/_api';
const headers = { authorization: `Bearer ${process.env.SANDBANK_API_KEY}` };

interface Page {
  readonly data: readonly { readonly id: string; readonly amount: number; readonly currency: string }[];
  readonly nextCursor: string | null;
}

async function* captured() {
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ status: 'captured', limit: '100', ...(cursor && { cursor }) });
    const answer = await fetch(`${api}/developer_api_payments?${query}`, { headers });
    const page = (await answer.json()) as Page;
    yield* page.data;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

let count = 0;
for await (const payment of captured()) count += payment.amount > 0 ? 1 : 0;
console.log('captured payments:', count);
