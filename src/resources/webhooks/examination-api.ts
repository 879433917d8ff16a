import { Type } from 'typebox';
import { caseNames, Examination } from '../../examiner/schema.ts';
import type { EventType } from '../../kernel/event.ts';
import { idFrom } from '../../kernel/ids.ts';
import type { Route } from '../../kernel/route.ts';
import { strict } from '../../kernel/schema.ts';
import { writeRoute } from '../../kernel/write-route.ts';
import { beginExamination } from './examination-commands.ts';

export function examinationRoutes(catalogue: readonly EventType[]): readonly Route[] {
  const ExamineBody = strict({
    cases: Type.Optional(
      Type.Array(Type.Enum([...caseNames]), {
        minItems: 1,
        maxItems: caseNames.length,
        uniqueItems: true,
        description: 'All cases by default. `valid_signature` always runs, and first.',
      }),
    ),
    eventType: Type.Optional(
      Type.Enum(
        catalogue.map(({ type }) => type),
        {
          description:
            'The type of the events to send. Default: `payment.created`, or the first type that the endpoint subscribes to.',
        },
      ),
    ),
  });
  return [
    writeRoute({
      operationId: 'examineWebhook',
      method: 'POST',
      path: 'developer_api_webhooks/{id}/examine',
      scope: 'webhooks:write',
      tag: 'Webhooks',
      summary:
        'Attack the endpoint with forged, stale, repeated and unusual requests, and grade how its receiver handles them',
      body: ExamineBody,
      bodyName: 'WebhookExamination',
      isBodyOptional: true,
      response: Examination,
      responseName: 'Examination',
      target: 'webhook',
      command: beginExamination,
      input: ({ params, body }) => ({ id: idFrom('webhook', params.id), ...body }),
      prepare: ({ requested, request }, { runs }) => runs.examineWebhook(requested, request),
    }),
  ];
}
