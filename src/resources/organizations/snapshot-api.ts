import type { Static } from 'typebox';
import { limits } from '../../kernel/limits.ts';
import type { ConsoleRoute } from '../../kernel/route.ts';
import { strict, text } from '../../kernel/schema.ts';
import { beginFork } from './snapshot-commands.ts';

export const ForkBody = strict({ name: text(limits.nameLengthMax) });

export const forkRoute: ConsoleRoute = {
  operationId: 'forkOrganization',
  method: 'POST',
  path: 'fork',
  level: 'organization',
  role: 'admin',
  summary: 'Make a copy of the organization as it is now, with keys of its own; you become its owner',
  body: ForkBody,
  target: 'organization',
  command: beginFork,
  input: ({ body }) => ({ name: (body as Static<typeof ForkBody>).name }),
};
