/**
 * Payments that no server has read yet, enough for one round: copies of one real payment with new ids, inserted with SQL,
 * because creating them over HTTP would take longer than all measurements together.
 */
import pg from 'pg';
import { type NextRequest, PAYMENTS_PATH, readRequest } from './requests.ts';
import { readTables } from './sample.ts';

/** More than one second reads on this machine. On a faster machine a round ends early, when all are read. */
const READS_PER_SECOND = 30_000;
const COPIES_MAX = 500_000;
/** Prime, so that this stride visits every payment once: ids are not read in the order in which they were inserted. */
const STRIDE = 7919;
const RUN_DIGITS = 4;
const COPY_DIGITS = 8;

export class FirstReads {
  readonly #databaseUrl: string;
  readonly #model: string;
  #runs = 0;
  #copies = 0;
  #requested = 0;

  /** `model` is the id of a payment in the database, which is used for the copies only. */
  constructor(databaseUrl: string, model: string) {
    this.#databaseUrl = databaseUrl;
    this.#model = model;
  }

  /** Replaces the payments of the previous run. No id is reused, so a cached row cannot serve a request. */
  async prepare(seconds: number): Promise<void> {
    this.#runs += 1;
    this.#requested = 0;
    this.#copies = Math.min(COPIES_MAX, seconds * READS_PER_SECOND);
    const client = new pg.Client({ connectionString: this.#databaseUrl });
    await client.connect();
    try {
      const payments = (await readTables(client)).find(({ name }) => name === 'payments');
      const columns = payments?.columns.filter(({ automatic }) => !automatic).map(({ name }) => `"${name}"`);
      if (columns === undefined) throw new Error('There is no payments table.');
      const values = columns.map((column) =>
        column === '"id"' ? `$1 || lpad(n::text, ${COPY_DIGITS}, '0')` : `m.${column}`,
      );
      await client.query(`create table if not exists bench_model as select * from payments`);
      await client.query('truncate payments');
      await client.query(
        `insert into payments (${columns.join(', ')}) select ${values.join(', ')} from bench_model m, generate_series(0, $2 - 1) n`,
        [this.#idStart(), this.#copies],
      );
      await client.query('vacuum analyze payments');
    } finally {
      await client.end();
    }
  }

  /** All connections share the payments of a run; each payment is requested once. */
  requests(apiKey: string): NextRequest {
    const path = (copy: number): string =>
      `${PAYMENTS_PATH}/${this.#idStart()}${String(copy).padStart(COPY_DIGITS, '0')}`;
    const request = readRequest(apiKey, path(0));
    const copyAt = request.bytes.indexOf(path(0)) + path(0).length - COPY_DIGITS;
    return () => {
      if (this.#requested === this.#copies) return undefined;
      const copy = (this.#requested * STRIDE) % this.#copies;
      this.#requested += 1;
      request.bytes.write(String(copy).padStart(COPY_DIGITS, '0'), copyAt, 'latin1');
      return request;
    };
  }

  #idStart(): string {
    const prefix = this.#model.slice(0, -RUN_DIGITS - COPY_DIGITS);
    return prefix + String(this.#runs).padStart(RUN_DIGITS, '0');
  }
}
