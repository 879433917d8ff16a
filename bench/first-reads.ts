/**
 * Payments that no server has read yet, as many as a round can ask for: copies of one real payment with ids of their own,
 * made by the database itself, because creating them over HTTP would take longer than all measurements together.
 */
import pg from 'pg';
import { type NextRequest, PAYMENTS_PATH, readRequest } from './requests.ts';
import { readTables } from './sample.ts';

/** More than are read here in a second. A faster machine reads them all, and its round then ends early. */
const READS_PER_SECOND = 30_000;
const COPIES_MAX = 500_000;
/** Prime, so that steps of it meet every payment once: ids are asked for in no order, unlike they were made. */
const STRIDE = 7919;
const RUN_DIGITS = 4;
const COPY_DIGITS = 8;

export class FirstReads {
  readonly #databaseUrl: string;
  readonly #model: string;
  #runs = 0;
  #copies = 0;
  #asked = 0;

  /** `model` is the id of a payment in that database, which is left to the copies alone. */
  constructor(databaseUrl: string, model: string) {
    this.#databaseUrl = databaseUrl;
    this.#model = model;
  }

  /** The payments of the run before make room, and no id comes again: nothing that a server kept can serve it. */
  async prepare(seconds: number): Promise<void> {
    this.#runs += 1;
    this.#asked = 0;
    this.#copies = Math.min(COPIES_MAX, seconds * READS_PER_SECOND);
    const client = new pg.Client({ connectionString: this.#databaseUrl });
    await client.connect();
    try {
      const payments = (await readTables(client)).find(({ name }) => name === 'payments');
      const columns = payments?.columns.filter(({ automatic }) => !automatic).map(({ name }) => `"${name}"`);
      if (columns === undefined) throw new Error('There is no table of payments.');
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

  /** All connections share the payments of a run: each is asked for once. */
  requests(apiKey: string): NextRequest {
    const path = (copy: number): string =>
      `${PAYMENTS_PATH}/${this.#idStart()}${String(copy).padStart(COPY_DIGITS, '0')}`;
    const request = readRequest(apiKey, path(0));
    const copyAt = request.bytes.indexOf(path(0)) + path(0).length - COPY_DIGITS;
    return () => {
      if (this.#asked === this.#copies) return undefined;
      const copy = (this.#asked * STRIDE) % this.#copies;
      this.#asked += 1;
      request.bytes.write(String(copy).padStart(COPY_DIGITS, '0'), copyAt, 'latin1');
      return request;
    };
  }

  #idStart(): string {
    const kept = this.#model.slice(0, -RUN_DIGITS - COPY_DIGITS);
    return kept + String(this.#runs).padStart(RUN_DIGITS, '0');
  }
}
