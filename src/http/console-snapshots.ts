import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { assert } from '../kernel/assert.ts';
import type { Answer } from '../kernel/command.ts';
import { type Presented, resourceBody } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import type { Role } from '../kernel/permissions.ts';
import type { Principal } from '../kernel/route.ts';
import { strict, text } from '../kernel/schema.ts';
import { exportOrganization, restoreOrganization } from '../resources/organizations/snapshot-commands.ts';
import { snapshotType } from '../snapshots/format.ts';
import { consoleAnswers } from './console-answers.ts';
import { type AdmissionSettings, admit, consolePrefix } from './console-routes.ts';
import { auditRefusal, type TrailSettings } from './refusal-trail.ts';
import { Refused } from './refused.ts';
import { requestIdOf } from './request-id.ts';
import { sendAnswer, sendJson, sendSnapshot } from './send.ts';
import { compileQuery } from './validate.ts';

interface SnapshotRequest {
  readonly id: Id<'request'>;
  readonly ip: string;
}

export interface SnapshotActions {
  /** Exports the organization of the principal without secrets, and records that in the audit trail. */
  readonly takeSnapshot: (
    request: SnapshotRequest,
    principal: Principal,
  ) => Promise<Readable | Answer | Refusal>;
  /** Restores an uploaded snapshot as a new organization, or in place of the content of the principal's organization. */
  readonly restoreSnapshot: (
    request: SnapshotRequest,
    principal: Principal,
    bytes: AsyncIterable<Uint8Array>,
    target: { readonly into: 'new' | 'current'; readonly name: string },
  ) => Promise<Presented | Refusal>;
}

const RestoreQuery = strict({
  into: Type.Enum(['new', 'current']),
  name: text(limits.nameLengthMax),
});

const jsonlType = /^application\/jsonl *(; *charset="?utf-8"? *)?$/i;

/** A file download and upload. They are not in the route table, because those routes hold JSON in memory. */
export function addConsoleSnapshots(
  app: FastifyInstance,
  settings: AdmissionSettings & TrailSettings,
  { takeSnapshot, restoreSnapshot }: SnapshotActions,
): void {
  const path = `${consolePrefix}:orgId/snapshot`;
  const admitted = async (request: FastifyRequest, reply: FastifyReply, role: Role, command: string) => {
    const refusal = await admit(settings, request, reply, { role, allowsArchived: true });
    if (!refusal) return;
    await auditRefusal(settings, request, command, refusal);
    throw new Refused(refusal);
  };
  app.get(path, { config: { answer: consoleAnswers.snapshot } }, async (request, reply) => {
    await admitted(request, reply, 'admin', exportOrganization.name);
    const answer = await takeSnapshot(snapshotRequestOf(request), principalOf(request));
    if ('ok' in answer) throw new Refused(answer);
    return 'body' in answer ? sendAnswer(reply, answer) : sendSnapshot(reply, answer);
  });
  const admittedToRestore = (request: FastifyRequest, reply: FastifyReply) => {
    const isInPlace = (request.query as Record<string, unknown>).into === 'current';
    return admitted(request, reply, isInPlace ? 'owner' : 'admin', restoreOrganization.name);
  };
  const checkQuery = compileQuery(RestoreQuery);
  // In its own scope, because all other routes accept only JSON bodies.
  app.register((scope, _options, done) => {
    scope.addContentTypeParser(snapshotType, (_request, body, parsed) => parsed(null, body));
    scope.post(path, {
      config: { answer: consoleAnswers.restoredSnapshot },
      onRequest: async (request, reply) => {
        await admittedToRestore(request, reply);
        const isSnapshot = jsonlType.test(request.headers['content-type'] ?? '');
        const refusal = isSnapshot
          ? checkQuery({ ...(request.query as Record<string, unknown>) })
          : refuse('unsupported_media_type');
        if (refusal) throw new Refused(refusal);
      },
      handler: async (request, reply) => {
        const bytes = async function* () {
          yield* request.body as AsyncIterable<Uint8Array>;
          // An upload may take a minute, and the right to restore may have ended meanwhile.
          await admittedToRestore(request, reply);
        };
        const restored = await restoreSnapshot(
          snapshotRequestOf(request),
          principalOf(request),
          bytes(),
          request.query as Static<typeof RestoreQuery>,
        );
        if ('ok' in restored) throw new Refused(restored as Refusal);
        return sendJson(reply, 201, resourceBody(restored, request.id));
      },
    });
    done();
  });
}

function snapshotRequestOf(request: FastifyRequest): SnapshotRequest {
  return { id: requestIdOf(request), ip: request.ip };
}

function principalOf({ principal }: FastifyRequest): Principal {
  assert(principal, 'a snapshot request must have a principal');
  return principal;
}
