import type { Command } from 'commander';
import type { AuditEntryList, AuditVerification, ListAuditEntriesQuery } from '../../sdk/client.ts';
import { declare, group } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { fields } from '../layout.ts';
import { type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { exits } from '../problem.ts';
import { choice } from '../reading.ts';

interface ListOptions extends PageOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly record?: string;
  readonly request?: string;
  readonly application?: string;
  readonly outcome?: string;
  readonly after?: string;
  readonly before?: string;
}

export function addAudit(program: Command): void {
  const audit = group(program, 'audit', 'Read and verify the audit trail');
  declare<ListOptions>(audit, 'list', {
    summary: 'List audit entries, newest first',
    details: 'Every write creates one, accepted or refused. The key needs all four read scopes.',
    options: [
      ['--actor <id>', 'only this API key (key_...), user (usr_...) or server component (seed, operator)'],
      ['--action <name>', 'only this action, such as payments.advance'],
      ['--resource <kind>', 'only records of this kind, such as payment'],
      ['--record <id>', 'only writes to this record, refused ones included'],
      ['--request <id>', 'only entries of this request'],
      ['--application <id>', 'only entries of this application'],
      ['--outcome <outcome>', 'accepted or refused', choice(...fieldValues.listAuditEntries.outcome)],
      ['--after <time>', 'only entries after this instant (RFC 3339)'],
      ['--before <time>', 'only entries before this instant (RFC 3339)'],
      ...pageOptions,
    ],
    examples: [
      ['audit list'],
      ['audit list --record pay_... --outcome refused', 'refused writes to a payment'],
      ['audit list --action api_keys.create --json | jq .data'],
    ],
    run: async (session, options) => {
      const { actor, record, request, application, ...rest } = options;
      const query = withoutUndefined({
        ...rest,
        actorId: actor,
        resourceId: record,
        requestId: request,
        applicationId: application,
      }) as ListAuditEntriesQuery;
      const pages = (await session.sandbank()).audit.list(query);
      await showPage(session.out, pages, ['AT', 'ACTOR', 'ACTION', 'RECORD', 'OUTCOME'], entryRow);
      return undefined;
    },
  });
  declare(audit, 'verify', {
    summary: 'Verify the seals of the newest audit entries',
    details:
      'The server verifies up to 200,000 entries of the organization; "sandbank verify" checks whole databases. It exits with 1 when the trail is broken. The key needs all four read scopes.',
    examples: [['audit verify'], ['audit verify --json | jq .head', 'the hash of the last seal']],
    run: async (session) => {
      const verification = await (await session.sandbank()).audit.verify();
      session.out.show(verification, () => verificationText(verification));
      return verification.status === 'intact' ? exits.fine : exits.refused;
    },
  });
}

function entryRow({ at, actor, action, resourceId, outcome, code }: AuditEntryList['data'][number]) {
  return [at, actor.name ?? actor.id, action, resourceId ?? '', code ?? outcome];
}

function verificationText(verification: AuditVerification): string {
  const { status, seals, sealedRows, unsealedRows, head, isWhole, problems } = verification;
  const text = fields([
    ['audit trail', isWhole ? status : `${status} (newest part)`],
    ['entries', `${sealedRows} sealed by ${seals} seals, ${unsealedRows} not sealed yet`],
    ['last seal', head],
  ]);
  return [text, ...problems.map(({ message }) => `  ${message}`)].join('\n');
}
