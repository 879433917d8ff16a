import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { Answer, CommandKind, PreparedCommand, Submission } from './command.ts';
import { refuse } from './errors.ts';
import { formatId } from './ids.ts';
import type { Prepare } from './prepare.ts';
import { strict } from './schema.ts';
import { consoleWriteRoute, writeRoute } from './write-route.ts';

// The guarantees of this file are type errors: `tsc` fails when a line under @ts-expect-error compiles.

interface Rename {
  readonly id: string;
  readonly name: string;
}

interface Invite {
  readonly name: string;
  readonly token: string;
}

const answer = {
  ok: true,
  changes: [],
  answer: { resource: 'payment', row: { orgId: formatId('organization', ''), id: '' } },
} as const;

const rename: CommandKind<Rename> = {
  name: 'tests.rename',
  success: 'ok',
  reads: () => [],
  decide: () => answer,
};

const invite: PreparedCommand<Invite, { readonly inviteId: string }> = {
  name: 'tests.invite',
  success: 'created',
  needsPrepare: true,
  reads: () => [],
  decide: ({ token }) =>
    token === '' ? refuse('limit_reached') : { ...answer, result: { inviteId: token } },
};

const prepareInvite: Prepare<{ readonly name: string }, Invite, { readonly inviteId: string }> = (
  { requested, submit },
  { secrets },
) => submit({ ...requested, token: secrets.newInvitationToken().token });

const Body = strict({ name: Type.String(), note: Type.Optional(Type.String()) });

const meta = {
  operationId: 'x',
  method: 'POST',
  path: 'x/{id}',
  summary: '',
  scope: 'any',
  tag: 'Sandbox',
  response: Body,
  responseName: 'X',
  target: null,
} as const;

test('a route infers the body from its schema, and the input from its command', () => {
  const input = ({ body }: { body: { name: string } }) => ({ id: '1', name: body.name });
  expect(writeRoute({ ...meta, body: Body, command: rename, input }).command).toBe(rename);
  writeRoute({
    ...meta,
    body: Body,
    command: rename,
    // @ts-expect-error: the schema has no field `nam`.
    input: ({ body }) => ({ id: '1', name: body.nam }),
  });
  writeRoute({
    ...meta,
    body: Body,
    command: rename,
    // @ts-expect-error: an optional field may be absent.
    input: ({ body }) => ({ id: '1', name: body.note }),
  });
  writeRoute({
    ...meta,
    body: Body,
    command: rename,
    // @ts-expect-error: the command needs `id` as well.
    input: ({ body }) => ({ name: body.name }),
  });
});

test('a command that needs its prepare step is not served without it', () => {
  const input = ({ body }: { body: { name: string } }) => ({ name: body.name });
  const route = writeRoute({ ...meta, body: Body, command: invite, input, prepare: prepareInvite });
  expect(route.prepare).toBe(prepareInvite);
  // @ts-expect-error: `prepare` is missing.
  writeRoute({ ...meta, body: Body, command: invite, input });
  // @ts-expect-error: `prepare` is missing, and a complete input does not replace it.
  writeRoute({ ...meta, body: Body, command: invite, input: () => ({ name: '', token: '' }) });
  // @ts-expect-error: the same holds for the console.
  consoleWriteRoute({ ...meta, level: 'organization', role: 'admin', body: Body, command: invite, input });
  writeRoute({
    ...meta,
    body: Body,
    command: rename,
    input: () => ({ id: '', name: '' }),
    // @ts-expect-error: this command has no prepare step.
    prepare: prepareInvite,
  });
  // @ts-expect-error: the step needs `name`.
  writeRoute({ ...meta, body: Body, command: invite, input: () => ({}), prepare: prepareInvite });
});

test('a prepare step submits the complete input of its command', () => {
  const incomplete: Prepare<{ readonly name: string }, Invite, undefined> = ({ requested, submit }) => {
    // @ts-expect-error: `token` is missing.
    return submit(requested);
  };
  expect(incomplete).toBeTypeOf('function');
});

test('a result has the type of its command, and only an accepted command has one', () => {
  type Invited = Answer<{ readonly inviteId: string }>;
  const accepted: Invited = {
    ...{ status: 201, body: '', code: null, isReplay: false },
    result: { inviteId: 'inv_1' },
  };
  const id = (reply: Invited) => (reply.code === null && !reply.isReplay ? reply.result.inviteId : undefined);
  expect(id(accepted)).toBe('inv_1');
  // @ts-expect-error: a refusal or a replay has no result.
  const unchecked = (reply: Invited) => reply.result;
  const misread = (reply: Invited) => {
    if (reply.code !== null || reply.isReplay) return undefined;
    // @ts-expect-error: the result has no field `token`.
    return reply.result.token;
  };
  expect([unchecked(accepted), misread(accepted)]).toEqual([{ inviteId: 'inv_1' }, undefined]);
  const silent: CommandKind<Rename, { readonly at: number }> = {
    ...rename,
    // @ts-expect-error: the command declares a result and returns none.
    decide: () => answer,
  };
  expect(silent.name).toBe(rename.name);
});

test('a submission has the input of its kind', () => {
  const submission: Pick<Submission<Rename, undefined>, 'kind' | 'input'> = {
    kind: rename,
    // @ts-expect-error: `name` is missing.
    input: { id: '1' },
  };
  expect(submission.kind).toBe(rename);
});
