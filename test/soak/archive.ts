/**
 * Payments that exist before the traffic, and whose pages are read throughout. They fill the row cache of a node within its warm-up, so that
 * growth after it is not the cache.
 */
import type { Random } from '../process/chaos/requests.ts';
import type { SoakClient } from './client.ts';
import { archived } from './tenants.ts';

const pageSize = 100;
const creators = 32;

export class Archive {
  readonly #client: SoakClient;
  readonly #pages: string[] = [];

  constructor(client: SoakClient) {
    this.#client = client;
  }

  async create(payments: number): Promise<void> {
    let left = payments;
    const creator = async () => {
      for (; left > 0; ) {
        left -= 1;
        await this.#client.post('archive', 'payments', archived.key, {
          amount: 1_000 + left,
          currency: 'EUR',
        });
      }
    };
    await Promise.all(Array.from({ length: creators }, creator));
    let page: string | null = `payments?limit=${pageSize}`;
    while (page !== null) {
      this.#pages.push(page);
      const cursor: string | null = (await this.#read(page))?.body.nextCursor ?? null;
      page = cursor === null ? null : `payments?limit=${pageSize}&cursor=${cursor}`;
    }
  }

  async readPage(random: Random): Promise<void> {
    await this.#read(random.pick(this.#pages));
  }

  #read(page: string) {
    return this.#client.get(`page of ${pageSize}`, page, archived.key);
  }
}
