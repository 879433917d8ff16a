import { createServer } from 'node:http';
import { Sandbank } from 'sandbank/client';

/**
 * A small shop: it accepts orders, creates payments, and trusts only signed webhooks for their status. Orders are in memory, so that
 * the example stays short.
 */
export class Shop {
  #sandbank;
  #orders = new Map();
  #seen = new Set();
  #secret = '';
  #server;

  /** @param {Sandbank} sandbank */
  constructor(sandbank) {
    this.#sandbank = sandbank;
  }

  /** Opens the webhook receiver and registers it. */
  async open() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${this.#server.address().port}/webhooks`;
    const { secret } = await this.#sandbank.webhooks.create({
      url,
      eventTypes: ['payment.*', 'refund.*'],
      retryProfile: 'fast',
    });
    this.#secret = secret;
  }

  /**
   * The order number is the idempotency key, so an order is paid once, even after retries.
   * @param {{ number: string, amount: number, currency: string, scenario?: string }} order
   */
  async checkout({ number, amount, currency, scenario }) {
    const payment = await this.#sandbank.payments.create(
      { amount, currency, reference: number, ...(scenario ? { scenario } : {}) },
      { idempotencyKey: `order-${number}` },
    );
    this.#orders.set(number, { number, paymentId: payment.id, status: 'waiting', sequence: 0 });
    return payment;
  }

  /** @param {string} number */
  order(number) {
    return this.#orders.get(number);
  }

  /** @param {string} number @param {number} amount */
  refund(number, amount) {
    return this.#sandbank.payments.refund(
      this.#orders.get(number).paymentId,
      { amount },
      { idempotencyKey: `refund-${number}-${amount}` },
    );
  }

  async close() {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }

  async #receive(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      // Verify the raw bytes: reserialized JSON has another signature.
      const event = await Sandbank.webhooks.verify(Buffer.concat(chunks), request.headers, this.#secret);
      this.#apply(event);
      response.writeHead(204).end();
    } catch (error) {
      response.writeHead(400).end(error.message);
    }
  }

  /** Webhooks are delivered at least once and in any order: skip duplicates and outdated events. */
  #apply(event) {
    if (this.#seen.has(event.id)) return;
    this.#seen.add(event.id);
    const order = this.#orders.get(event.data.reference);
    if (!order || event.data.object !== 'payment' || event.sequence <= order.sequence) return;
    order.sequence = event.sequence;
    order.status = statusOf(event.data.status) ?? order.status;
  }
}

function statusOf(payment) {
  if (payment === 'captured' || payment === 'settled') return 'paid';
  if (payment === 'failed' || payment === 'canceled' || payment === 'expired') return 'unpaid';
  if (payment === 'refunded' || payment === 'partially_refunded') return 'refunded';
  if (payment === 'disputed' || payment === 'charged_back') return 'disputed';
  return undefined;
}
