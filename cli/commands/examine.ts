import type { Command } from 'commander';
import type { WebhookExamination } from '../../sdk/client.ts';
import { declare } from '../declare.ts';
import { fieldValues } from '../generated/values.ts';
import { withoutUndefined } from '../paging.ts';
import { exits, wrongUsage } from '../problem.ts';
import { choice, listOf } from '../reading.ts';
import type { Session } from '../session.ts';

interface ExamineOptions {
  readonly secret?: string;
  readonly cases?: readonly string[];
  readonly eventType?: string;
}

/** The report of an examination; local and server runs have the same shape. */
type Report = Awaited<ReturnType<typeof import('../../src/examiner/local.ts').examineUrl>>;

export function addExamine(webhooks: Command): void {
  declare<ExamineOptions>(webhooks, 'examine [target]', {
    summary: 'Test a webhook receiver with bad signatures, duplicates and more',
    details:
      'With a URL, this machine sends the requests, so the receiver may run on your laptop; with an endpoint id, the server sends them. The exit code is 1 when the receiver fails.',
    options: [
      ['--secret <whsec>', "the receiver's secret, with a URL (SANDBANK_WEBHOOK_SECRET)"],
      ['--cases <names>', 'only these test cases', listOf(fieldValues.examineWebhook.cases)],
      [
        '--event-type <type>',
        'type of the events to send (payment.created)',
        choice(...fieldValues.examineWebhook.eventType),
      ],
    ],
    examples: [
      ['webhooks examine http://127.0.0.1:3000/webhooks --secret whsec_...'],
      ['webhooks examine whk_...', 'the endpoint as the server reaches it'],
      ['webhooks examine --url http://127.0.0.1:3000/webhooks --secret whsec_... --json'],
    ],
    run: async (session, options, target = session.urlGiven) => {
      if (target === undefined) throw wrongUsage('Pass a URL with --secret, or an endpoint id.');
      session.out.progress('Examining, for up to half a minute...');
      const report = /^https?:\/\//.test(target)
        ? await fromHere(session, options, target)
        : await byServer(session, options, target);
      const { reportText } = await import('../../src/examiner/report.ts');
      session.out.show(report, () => reportText(report).trimEnd());
      return report.status === 'failed' ? exits.refused : exits.fine;
    },
  });
}

async function fromHere(
  { env }: Session,
  { secret, cases, eventType }: ExamineOptions,
  url: string,
): Promise<Report> {
  const signing = secret ?? env.SANDBANK_WEBHOOK_SECRET;
  if (!signing) throw wrongUsage('--secret is missing: the secret that the receiver verifies with.');
  if (!/^(whsec_)?[A-Za-z0-9+/]+=*$/.test(signing)) throw wrongUsage('The secret must be whsec_ and base64.');
  const { examineUrl } = await import('../../src/examiner/local.ts');
  const report = await examineUrl(
    withoutUndefined({
      url,
      secret: signing,
      cases: cases as Parameters<typeof examineUrl>[0]['cases'],
      eventType,
    }) as Parameters<typeof examineUrl>[0],
  );
  return report;
}

async function byServer(session: Session, { cases, eventType }: ExamineOptions, id: string): Promise<Report> {
  const [sandbank, { examinationMsMax }] = await Promise.all([session.sandbank(), import('../calling.ts')]);
  const body = withoutUndefined({ cases, eventType }) as WebhookExamination;
  return sandbank.webhooks.examine(id, body, { timeoutMs: examinationMsMax });
}
