import { type Static, Type } from 'typebox';
import { Examination } from '../../examiner/schema.ts';
import { refuse } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import { applicationSubresourceHandler, type ConsoleRoute } from '../../kernel/route.ts';
import { component, id, nullable, resource, strict, Time } from '../../kernel/schema.ts';
import { findExaminations, findReport } from './examination-store.ts';
import { webhooksTable } from './table.ts';

const ListQuery = strict({ examinationId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })) });

const Summary = Type.Object(
  {
    id: id('examination'),
    at: Time,
    status: Examination.properties.status,
    grade: Examination.properties.grade,
    score: Examination.properties.score,
    complete: Examination.properties.complete,
  },
  component('ExaminationSummary'),
);

const HistorySchema = resource('examination_history', ['ok'], {
  webhookId: id('webhook'),
  examinations: Type.Array(Summary, { description: 'Newest first.' }),
  report: nullable(Examination),
});

/** The last examinations of an endpoint, and the report of one of them: the requested one, or the newest. */
export const examinationListRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'listExaminationsOfWebhook',
    method: 'GET',
    path: 'webhooks/{id}/examinations',
    role: 'viewer',
    level: 'application',
    summary: 'List the last examinations of an endpoint, with one report',
    query: ListQuery,
    response: HistorySchema,
    responseName: 'ExaminationHistory',
    read: applicationSubresourceHandler('webhook', webhooksTable, async ({ reader, query }, webhook) => {
      const { orgId, id: webhookId } = webhook;
      const { examinationId } = query as Static<typeof ListQuery>;
      const found = await findExaminations(reader, orgId, webhookId);
      const chosen = examinationId ?? found[0]?.id;
      const report =
        chosen === undefined || !isId('examination', chosen)
          ? undefined
          : await findReport(reader, orgId, webhookId, chosen);
      if (examinationId !== undefined && report === undefined) return refuse('resource_not_found');
      return {
        object: 'examination_history',
        sandbox: true,
        status: 'ok',
        webhookId,
        examinations: found.map(({ at, ...summary }) => ({ ...summary, at: instantToText(at) })),
        report: report === undefined ? null : { object: 'examination', sandbox: true, webhookId, ...report },
      };
    }),
  },
];
