import type { Id } from '../../kernel/ids.ts';
import type { Reader, Statement } from '../../kernel/table.ts';

// More than one row, because node clocks differ: the row that was written last may not have the highest id.
const rowsCompared = 20;

const latest: Statement = {
  name: 'latest_activity',
  text: `select concat_ws(' ',
      (select string_agg(a.id, ' ') from (
        select id from audit where org_id = $1 order by org_id desc, id desc limit ${rowsCompared}) a),
      (select string_agg(d.id || d.status || d.attempts, ' ') from (
        select id, status, attempts from deliveries where org_id = $1 order by org_id desc, id desc limit ${rowsCompared}) d)
    ) as found`,
};

/**
 * A text that changes with every command of the organization and with the attempts of its newest deliveries. Most changes have an
 * event; a moved clock, a revoked key or an attempt has none.
 */
export async function findLatestActivity(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
): Promise<string> {
  const [row] = await reader.rows<{ found: string }>(latest, [orgId]);
  return row?.found ?? '';
}
