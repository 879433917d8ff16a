import { Sandbank, SignatureError, signWebhook } from 'sandbank/client';

const secret = 'whsec_c2FuZGJhbmsgdGVzdCBzZWNyZXQ=';

/** The handler of your application. */
async function handle(request: Request): Promise<Response> {
  try {
    const event = await Sandbank.webhooks.verify(await request.text(), request.headers, secret);
    return new Response(`got ${event.type}`, { status: 200 });
  } catch (error) {
    return new Response(error instanceof SignatureError ? error.check : 'failed', { status: 400 });
  }
}

const event = { object: 'event', id: 'evt_1', type: 'payment.captured', data: { amount: 1250 } };
const signed = await signWebhook(event, secret);
const good = await handle(new Request('http://shop.test/hook', { method: 'POST', ...signed }));
console.log(good.status, await good.text()); // 200 got payment.captured

const body = signed.body.replace('1250', '9250');
const forged = await handle(new Request('http://shop.test/hook', { method: 'POST', ...signed, body }));
console.log(forged.status, await forged.text()); // 400 signature
