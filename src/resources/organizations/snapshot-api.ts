import { Type } from 'typebox';
import type { IdKind } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { id, resource, strict, text } from '../../kernel/schema.ts';
import { consoleWriteRoute } from '../../kernel/write-route.ts';
import { beginFork } from './snapshot-commands.ts';

const ForkBody = strict({ name: text(limits.nameLengthMax) });

const named = (kind: IdKind) => ({ id: id(kind), name: Type.String() });
const secret = (what: string) =>
  Type.Optional(Type.String({ description: `The new ${what}. Only the response to the fork has it.` }));

/** Also the response to a restore. */
export const ForkSchema = resource('import', ['ok'], {
  organization: Type.Object(named('organization')),
  applications: Type.Array(Type.Object(named('application'))),
  apiKeys: Type.Array(Type.Object({ ...named('api_key'), key: secret('key') })),
  webhooks: Type.Array(Type.Object({ id: id('webhook'), url: Type.String(), secret: secret('secret') })),
  counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    description: 'The number of copied rows of each kind.',
  }),
});

export const forkRoute = consoleWriteRoute({
  operationId: 'forkOrganization',
  method: 'POST',
  path: 'fork',
  level: 'organization',
  role: 'admin',
  summary: 'Copy the organization in its current state, with new API keys; you become the owner of the copy',
  response: ForkSchema,
  responseName: 'Fork',
  body: ForkBody,
  target: 'organization',
  command: beginFork,
  input: ({ body }) => ({ name: body.name }),
  prepare: ({ requested, request }, { runs }) => runs.forkOrganization(requested, request),
});
