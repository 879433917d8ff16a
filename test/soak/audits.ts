/** The audits after a soak, while no server is running: what clients and receivers saw against the rows of the database. */
import { auditRows, type Query } from '../support/audit.ts';
import type { Cluster } from './cluster.ts';
import { type Arrivals, audited, type Receivers } from './receivers.ts';
import type { Audit } from './run.ts';
import { auditedApps, receiverOf } from './tenants.ts';
import { sealMinutesMin } from './verdicts.ts';

export interface Evidence {
  /** See `Acknowledged.lines`. */
  readonly acknowledged: readonly string[];
  readonly receivers: Receivers;
  readonly clientProblems: readonly string[];
  readonly clients: string;
  readonly minutes: number;
}

const findingsMax = 20;
const organizations = [...new Set(auditedApps.map(({ organization }) => `'${organization}'`))].join(', ');
const inOrganizations = `org_id in (select org_id from organizations where name in (${organizations}))`;

export async function auditsOf(cluster: Cluster, evidence: Evidence): Promise<readonly Audit[]> {
  const verified = await cluster.verify();
  return cluster.inspect(async (query) => {
    const books = await auditRows(query);
    return [
      await auditWrites(query, evidence.acknowledged),
      await auditDeliveries(query, evidence.receivers),
      audit(
        'The books balance',
        'Every entry, balance, amount, history and event, by statements that share no code with the server.',
        books,
      ),
      auditVerification(verified, evidence.minutes),
      audit('Clients get only valid responses', evidence.clients, evidence.clientProblems),
    ];
  });
}

function audit(name: string, text: string, findings: readonly string[]): Audit {
  const more = findings.length - findingsMax;
  return {
    ...{ name, text },
    findings: [...findings.slice(0, findingsMax), ...(more > 0 ? [`and ${more} more`] : [])],
  };
}

/** Each acknowledged write changed its record once; and each change by a client was acknowledged. */
async function auditWrites(query: Query, acknowledged: readonly string[]): Promise<Audit> {
  const expected = new Map<string, string>();
  const requests = new Set<string>();
  /** An advance of a clock has a row in the audit trail for each of its steps, the others have one. */
  const once = new Set<string>();
  for (const line of acknowledged) {
    const [request = '', ...change] = line.split(' ');
    requests.add(request);
    if (change.length === 0) continue;
    expected.set(line, request);
    once.add(request);
  }
  const findings: string[] = [];
  const history = await query(`select concat_ws(' ', request_id, resource_id, version, to_status) as line,
      request_id as request, actor_kind as actor
    from state_history where ${inOrganizations} and resource in ('payment', 'refund', 'dispute', 'transfer')`);
  for (const { line, request, actor } of history) {
    expected.delete(String(line));
    if (actor !== 'system' && !requests.has(String(request)))
      findings.push(`a change that no client has a response for: ${line}`);
  }
  for (const line of expected.keys()) findings.push(`acknowledged and lost: ${line}`);
  const twice = await query(`select request_id as request, count(*)::integer as count from audit
    where ${inOrganizations} and outcome = 'accepted' and actor_kind <> 'system' group by 1 having count(*) > 1`);
  for (const { request, count } of twice)
    if (once.has(String(request))) findings.push(`${request} was executed ${count} times`);
  return audit(
    'Nothing acknowledged is lost, and nothing has an effect twice',
    `${acknowledged.length.toLocaleString('en')} acknowledged writes against ${history.length.toLocaleString('en')} changes of records.`,
    findings,
  );
}

/** Every event of a subscribed application arrived, was accepted, and had the bytes of the event under its one id. */
async function auditDeliveries(query: Query, receivers: Receivers): Promise<Audit> {
  const findings = [...receivers.problems];
  let events = 0;
  let repeated = 0;
  for (const app of auditedApps) {
    const receiver = receiverOf(app) ?? '';
    const arrivals = receivers.arrivals.get(receiver);
    if (!arrivals) continue;
    const rows = await query(`select e.id, md5(e.data::text) as digest, count(d.id)::integer as deliveries,
        min(d.status) as status
      from events e join applications a on a.org_id = e.org_id and a.id = e.app_id
      join organizations o on o.org_id = e.org_id
      join webhooks w on w.org_id = e.org_id and w.app_id = e.app_id and w.url = '${receivers.urlOf(receiver)}'
      left join deliveries d on d.org_id = e.org_id and d.webhook_id = w.id and d.event_id = e.id
      where o.name = '${app.organization}' and a.name = '${app.name}'
        and e.resource in ('payment', 'refund', 'dispute', 'transfer') group by 1, 2`);
    events += rows.length;
    const found = new Map<string, Arrivals>(arrivals);
    for (const { id, digest, deliveries, status } of rows) {
      const arrived = found.get(String(id));
      found.delete(String(id));
      const name = `${id} at ${receiver}`;
      if (deliveries !== 1 || status !== 'succeeded')
        findings.push(`${name}: ${deliveries} deliveries, ${status}`);
      if (!arrived || arrived.accepted === 0) findings.push(`${name}: never accepted`);
      else if (arrived.digest !== digest) findings.push(`${name}: arrived with other data than the event`);
      if (arrived) repeated += arrived.count - 1;
    }
    for (const id of found.keys()) findings.push(`${id} arrived at ${receiver} and is not among its events`);
  }
  const text = `${events.toLocaleString('en')} events for the receivers ${audited.join(', ')}; ${repeated.toLocaleString('en')} arrivals were repetitions under the same id.`;
  return audit('Every event is delivered under one id', text, findings);
}

/**
 * A request in flight during a jump of the wall clock has an id of before the jump, and may be committed after others. Verify
 * reports such rows of the audit trail, and says that it cannot distinguish them from rows that were inserted later. In a run of seconds
 * the rows of a killed node are not sealed yet, and the jumps make them old.
 */
function auditVerification(
  { code, stdout, stderr }: Awaited<ReturnType<Cluster['verify']>>,
  minutes: number,
): Audit {
  const complaints = code === 0 ? [] : complaintsOf(stdout, stderr);
  const unexpected = complaints.filter((complaint) => !/clock (of a server )?was wrong/.test(complaint));
  const late = complaints.length - unexpected.length;
  const others = unexpected.filter(
    (complaint) => minutes >= sealMinutesMin || !complaint.includes('No seal names row'),
  );
  return audit(
    '`sandbank verify` finds the ledger sound',
    `The command of operators, on the same data.${late > 0 ? ` It names ${late} seals with requests that were in flight during a jump of the wall clock, as documented.` : ''}`,
    others,
  );
}

function complaintsOf(stdout: string, stderr: string): readonly string[] {
  try {
    const { checks } = JSON.parse(stdout) as { checks: { name: string; differences: unknown[] }[] };
    const found = checks.flatMap(({ name, differences }) =>
      differences.map((difference) => `${name}: ${JSON.stringify(difference)}`),
    );
    return found.length > 0 ? found : [stderr || stdout];
  } catch {
    return [stderr || stdout];
  }
}
