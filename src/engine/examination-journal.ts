import type { Database } from '../db/database.ts';
import { DatabaseFailure } from '../db/failure.ts';
import type { Statement } from '../kernel/table.ts';
import { type ExaminationRow, examinationsRetainedMax } from '../resources/webhooks/examination-table.ts';

/**
 * Stores a report and deletes the oldest ones of the endpoint. Two nodes at once may retain one more until the next examination. The
 * statement does not see the row that it inserts, so it retains one less of the others.
 */
const write: Statement = {
  name: 'examinations_write',
  text: `with stored as (insert into examinations (org_id, webhook_id, id, at, report) values ($1, $2, $3, $4, $5))
    delete from examinations e where e.org_id = $1 and e.webhook_id = $2 and e.id in (
      select o.id from examinations o where o.org_id = $1 and o.webhook_id = $2
      order by o.org_id desc, o.webhook_id desc, o.id desc offset ${examinationsRetainedMax - 1})`,
};

/** The reports of examinations. They are not records of the sandbox, so the engine does not write them. */
export class ExaminationJournal {
  readonly #database: Pick<Database, 'query'>;

  constructor(database: Pick<Database, 'query'>) {
    this.#database = database;
  }

  /** If the database fails, the report is lost here, but its request still gets it as its response. */
  async write({ orgId, webhookId, id, at, report }: ExaminationRow): Promise<void> {
    const values = [orgId, webhookId, id, new Date(at).toISOString(), JSON.stringify(report)];
    await this.#database.query(write, values).catch((error: unknown) => {
      if (!(error instanceof DatabaseFailure)) throw error;
    });
  }
}
