import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import { refusedCommand } from '../engine/submission.ts';
import type { Person } from '../identity/people.ts';
import type { CommandRequest } from '../kernel/command.ts';
import { resourceBody } from '../kernel/envelope.ts';
import { refuse } from '../kernel/errors.ts';
import { idPrefixes, isId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import type { Principal } from '../kernel/route.ts';
import { strict, text } from '../kernel/schema.ts';
import type { Instant } from '../kernel/table.ts';
import { revealSecret } from '../resources/webhooks/reveal-commands.ts';
import { findWebhookFor } from '../resources/webhooks/store.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';
import { consoleAnswers } from './console-answers.ts';
import { type AdmissionSettings, admit, consolePrefix, setCookies, visitorOf } from './console-routes.ts';
import { auditRefusal, isAuditedCode } from './refusal-trail.ts';
import { Refused } from './refused.ts';
import { requestIdOf } from './request-id.ts';
import { sendAnswer, sendJson } from './send.ts';
import { compileBody } from './validate.ts';

export interface RevealSettings extends AdmissionSettings {
  readonly engine: Engine;
  readonly wallClock: () => Instant;
  /** The current secret of an endpoint, in plain text. */
  readonly openSecret: (webhook: WebhookRow) => string;
}

const checkBody = compileBody(strict({ password: text(limits.passwordLengthMax) }));

/**
 * Shows the secret of an endpoint to an owner who confirms their password in the same request. It is not in the route table, because
 * those routes store a hash of the body with its idempotency key, and this body has a password.
 */
export function addConsoleReveal(app: FastifyInstance, settings: RevealSettings): void {
  app.post(
    `${consolePrefix}:orgId/:appId/developer_api_webhooks/:id/reveal_secret`,
    { config: { answer: consoleAnswers.webhookSecret }, onRequest: admission(settings) },
    async (request, reply) => {
      const { principal, person } = request;
      if (!principal || !person) throw new Error('a secret is revealed only to an admitted person');
      const refusal = checkBody(request.body ?? {});
      if (refusal) throw new Refused(refusal);
      const { id = '' } = request.params as { readonly id?: string };
      const webhook = await findWebhookFor(settings.reader, principal, id);
      if (!webhook) throw new Refused(refuse('resource_not_found'));
      return reveal(settings, { request, reply, principal, person, webhook });
    },
  );
}

/** Before the body is read. */
function admission(settings: RevealSettings) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.operation = 'revealWebhookSecret';
    const refusal = await admit(settings, request, reply, { role: 'owner', allowsArchived: true });
    if (!refusal) return;
    await auditRefusal(settings, request, revealSecret.name, refusal);
    throw new Refused(refusal);
  };
}

interface Revealing {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly principal: Principal;
  readonly person: Person;
  readonly webhook: WebhookRow;
}

async function reveal(
  { people, engine, wallClock, openSecret }: RevealSettings,
  { request, reply, principal, person, webhook: { id } }: Revealing,
): Promise<FastifyReply> {
  const { password } = request.body as { readonly password: string };
  const submission = submissionOf(request, principal, id, wallClock());
  const confirmed = await people.confirmPassword(password, person, visitorOf(request));
  if (!confirmed.ok) {
    if (!isAuditedCode(confirmed.code)) throw new Refused(confirmed);
    const kind = refusedCommand(revealSecret.name, confirmed);
    return sendAnswer(reply, await engine.submit({ ...submission, kind, input: undefined }));
  }
  setCookies(reply, confirmed.cookies);
  const answer = await engine.submit({ ...submission, kind: revealSecret, input: { id } });
  if (answer.code !== null || answer.isReplay) return sendAnswer(reply, answer);
  const secret = openSecret(answer.result.webhook);
  const shown = { object: 'webhook_secret', sandbox: true, status: 'ok', webhookId: id, secret } as const;
  return sendJson(reply, 200, resourceBody(shown, request.id));
}

function submissionOf(
  request: FastifyRequest,
  { orgId, appId, settings, actor }: Principal,
  id: string,
  wallNow: Instant,
): CommandRequest {
  if (!isId('webhook', id)) throw new Error('only an existing webhook has a secret');
  return {
    context: {
      ...{ orgId, appId: appId || null, settings, actor },
      requestId: requestIdOf(request),
      ip: request.ip,
      suffix: request.id.slice(idPrefixes.request.length + 1),
    },
    idempotency: null,
    target: { resource: 'webhook', id, isClaimed: true },
    wallNow,
  };
}
