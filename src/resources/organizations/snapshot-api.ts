import { limits } from '../../kernel/limits.ts';
import { strict, text } from '../../kernel/schema.ts';
import { consoleWriteRoute } from '../../kernel/write-route.ts';
import { beginFork } from './snapshot-commands.ts';

const ForkBody = strict({ name: text(limits.nameLengthMax) });

export const forkRoute = consoleWriteRoute({
  operationId: 'forkOrganization',
  method: 'POST',
  path: 'fork',
  level: 'organization',
  role: 'admin',
  summary: 'Copy the organization in its current state, with new API keys; you become the owner of the copy',
  body: ForkBody,
  target: 'organization',
  command: beginFork,
  input: ({ body }) => ({ name: body.name }),
  prepare: ({ requested, request }, { runs }) => runs.forkOrganization(requested, request),
});
