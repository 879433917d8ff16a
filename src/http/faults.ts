import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FaultCounter } from '../engine/fault-counter.ts';
import { errorCatalogue, type Refusal, refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { ServedRoute } from '../kernel/route.ts';
import { type ActivePlan, isForRoute, isSpared, type RequestFault } from '../resources/fault-plans/table.ts';
import { cutConnection } from './connection.ts';
import { requestIdOf } from './request-id.ts';
import { sendRefusal } from './send.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The plans that may hit the request; null for nearly all requests and for all requests from people. */
    faultPlans: readonly ActivePlan<RequestFault>[] | null;
    /** The plan that hit the request. */
    faultPlan: ActivePlan<RequestFault> | null;
  }
}

/** The route properties that a plan can match. */
type Target = Pick<ServedRoute, 'path' | 'operationId' | 'method'>;

const retryAfterSecondsDefault = 1;

/**
 * Injects the faults that the fault plans of an application define. It runs after the checks of key, scope, headers and body, and
 * before any work for the request, so that a request that would be refused anyway does not use up a plan.
 */
export class RequestFaults {
  readonly #counter: FaultCounter;
  readonly #docsUrl: () => string;
  readonly #waiting = new Set<() => void>();
  #isClosing = false;

  constructor(app: FastifyInstance, counter: FaultCounter, docsUrl: () => string) {
    this.#counter = counter;
    this.#docsUrl = docsUrl;
    app.decorateRequest('faultPlans', null);
    app.decorateRequest('faultPlan', null);
    // A closing server does not wait for injected latency.
    app.addHook('preClose', (done) => {
      this.#isClosing = true;
      for (const release of this.#waiting) release();
      done();
    });
  }

  /** Returns true when the request ended here, with an error or without a response. */
  async inject(request: FastifyRequest, reply: FastifyReply, route: Target): Promise<boolean> {
    const plan = await this.#find(request, route);
    if (!plan) return false;
    request.faultPlan = plan;
    reply.header('Sandbank-Fault', plan.id);
    const { fault } = plan;
    switch (fault.type) {
      case 'latency':
        await this.#wait(fault.delayMs);
        return false;
      case 'error':
        sendRefusal(reply, injectedRefusal(plan.id, fault), this.#docsUrl());
        return true;
      case 'reset_connection':
        cutConnection(reply, 'reset');
        return true;
      // `send` drops the response once it exists.
      case 'lose_answer':
        return false;
    }
  }

  /** Returns the oldest plan that hits the request. A plan that matches without a hit leaves the request to the next plan. */
  async #find(request: FastifyRequest, route: Target): Promise<ActivePlan<RequestFault> | undefined> {
    if (isSpared(route.path)) return undefined;
    for (const plan of request.faultPlans ?? [])
      if (isForRoute(plan, route) && (await this.#counter.take(plan, requestIdOf(request)))) return plan;
    return undefined;
  }

  #wait(ms: number): Promise<void> {
    if (this.#isClosing) return Promise.resolve();
    return new Promise((resolve) => {
      const release = () => {
        clearTimeout(timer);
        this.#waiting.delete(release);
        resolve();
      };
      const timer = setTimeout(release, ms);
      this.#waiting.add(release);
    });
  }
}

function injectedRefusal(planId: Id<'fault_plan'>, fault: Extract<RequestFault, { type: 'error' }>): Refusal {
  const { code } = fault;
  const defaultSeconds = code === 'internal_error' ? undefined : retryAfterSecondsDefault;
  const retryAfterSeconds = fault.retryAfterSeconds ?? defaultSeconds;
  return refuse(code, {
    message: `Fault plan ${planId}: this error was injected, and nothing was done. ${errorCatalogue[code].resolution}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
