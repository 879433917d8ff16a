import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Engine } from '../engine/engine.ts';
import type { Outcome } from '../identity/call-better-auth.ts';
import type { People, Person } from '../identity/people.ts';
import { networkOf } from '../identity/sign-in-throttle.ts';
import type { Submission } from '../kernel/command.ts';
import { apiVersion, type Presented, resourceBody, type Success, successStatus } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { type Id, idPrefixes } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import type { Reader } from '../kernel/table.ts';
import { findMemberships } from '../resources/organizations/member-store.ts';
import { type AccountTrail, accountTrail, personSubmission } from './account-trail.ts';
import type { ConsoleAnswer } from './console-answers.ts';
import { refuseOrigin } from './console-origin.ts';
import { type ConsoleSettings, consolePrefix, personOf, setCookies } from './console-routes.ts';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';
import { Refused } from './refused.ts';
import { sendJson } from './send.ts';
import { compileBody } from './validate.ts';

export interface SessionSettings {
  readonly people: People;
  readonly engine: Engine;
  readonly reader: Reader;
  readonly publicUrl: () => string;
  readonly wallClock: () => number;
  readonly uptime: () => number;
  readonly limitPerson: ConsoleSettings['limitPerson'];
  /** Whether anybody may sign up, or only people with an invitation. */
  readonly isOpen: boolean;
  readonly hashOfToken: (token: string) => Uint8Array;
}

const { nameLengthMax, passwordLengthMin, passwordLengthMax } = limits;
const accountLimits = { nameLengthMax, passwordLengthMin, passwordLengthMax };

/** The rate limit of requests without a session from one network, with a burst of twice as many. */
const anonymousPerSecond = 50;

/** Shared by the session routes: mounts routes, finds the signed-in person and presents the session. */
export class SessionContext {
  readonly settings: SessionSettings;
  /** Records an account change. */
  readonly note: AccountTrail;
  readonly #app: FastifyInstance;
  readonly #anonymous: RateLimiter = createRateLimiter(anonymousPerSecond);

  constructor(app: FastifyInstance, settings: SessionSettings) {
    this.#app = app;
    this.settings = settings;
    this.note = accountTrail(settings);
  }

  get(
    path: string,
    answer: ConsoleAnswer,
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
  ): void {
    this.#app.get(`${consolePrefix}${path}`, { config: { answer }, onRequest: this.#checkOrigin }, handler);
  }

  post<S extends TSchema>(
    path: string,
    schema: S,
    answer: ConsoleAnswer,
    handler: (body: Static<S>, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
  ): void {
    const check = compileBody(schema);
    const options = { config: { answer }, onRequest: this.#checkOrigin };
    this.#app.post(`${consolePrefix}${path}`, options, (request, reply) => {
      const body = request.body ?? {};
      const refusal = check(body);
      if (refusal) throw new Refused(refusal);
      return handler(body as Static<S>, request, reply);
    });
  }

  async present(person: Person | null): Promise<Presented> {
    const { reader, isOpen, publicUrl } = this.settings;
    const memberships = person ? await findMemberships(reader, person.id) : [];
    return {
      ...{ object: 'session', sandbox: true, status: 'ok' },
      person: person && {
        ...{ id: person.id, email: person.email, name: person.name, twoFactor: person.hasTwoFactor },
      },
      organizations: memberships.map(({ orgId, orgName, role, requiresTwoFactor }) => ({
        ...{ id: orgId, name: orgName, role, requiresTwoFactor },
      })),
      registration: isOpen ? 'open' : 'closed',
      publicUrl: publicUrl(),
      apiVersion,
      limits: accountLimits,
    };
  }

  /** Responds with the session of a person, or with a session without a person. */
  async showSession(reply: FastifyReply, person: Person | null): Promise<FastifyReply> {
    return this.show(reply, await this.present(person));
  }

  show(reply: FastifyReply, presented: Presented, success: Success = 'ok'): FastifyReply {
    return sendJson(reply, successStatus[success], resourceBody(presented, reply.request.id));
  }

  /** Returns the value of an outcome and sets its cookies on the response. Throws a refusal. */
  take<Value>(reply: FastifyReply, outcome: Outcome<Value> | Refusal): Value {
    if (!outcome.ok) throw new Refused(outcome);
    setCookies(reply, outcome.cookies);
    return outcome.value;
  }

  async signedIn(request: FastifyRequest, reply: FastifyReply): Promise<Person> {
    const person = await personOf(this.settings, request, reply);
    if (!person) throw new Refused(refuse('session_missing'));
    return person;
  }

  /** Limits cheap requests without a session. Their limit is separate, so that they cannot block sign-ins. */
  limitAnonymous({ ip }: FastifyRequest): void {
    const { refusal } = this.#anonymous.take(networkOf(ip), this.settings.uptime());
    if (refusal) throw new Refused(refusal);
  }

  submission(
    request: FastifyRequest,
    orgId: Id<'organization'>,
    person: Person,
  ): Omit<Submission, 'kind' | 'input'> {
    const suffix = request.id.slice(idPrefixes.request.length + 1);
    return personSubmission(request, {
      orgId,
      personId: person.id,
      suffix,
      wallNow: this.settings.wallClock(),
    });
  }

  readonly #checkOrigin = (
    request: FastifyRequest,
    _reply: FastifyReply,
    done: (error?: Error) => void,
  ): void => {
    const originRefusal = refuseOrigin(request.method, request.headers, this.settings.publicUrl());
    done(originRefusal ? new Refused(originRefusal) : undefined);
  };
}
