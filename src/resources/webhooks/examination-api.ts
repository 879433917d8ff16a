import { type Static, Type } from 'typebox';
import { caseNames, Examination } from '../../examiner/schema.ts';
import type { EventType } from '../../kernel/event.ts';
import type { Route } from '../../kernel/route.ts';
import { strict } from '../../kernel/schema.ts';
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
            'Events of this type are sent; else `payment.created`, or the first that the endpoint wants.',
        },
      ),
    ),
  });
  return [
    {
      operationId: 'examineWebhook',
      method: 'POST',
      path: 'developer_api_webhooks/{id}/examine',
      scope: 'webhooks:write',
      tag: 'Webhooks',
      summary:
        'Attack the endpoint with forged, stale, repeated and odd requests, and grade how its receiver stands it',
      body: ExamineBody,
      bodyName: 'WebhookExamination',
      isBodyOptional: true,
      response: Examination,
      responseName: 'Examination',
      target: 'webhook',
      command: beginExamination,
      input: ({ params, body }) => ({ id: params.id ?? '', ...(body as Static<typeof ExamineBody>) }),
    },
  ];
}
