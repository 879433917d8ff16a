import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FaultCounter } from '../engine/fault-counter.ts';
import { errorCatalogue, type Refusal, refuse } from '../kernel/errors.ts';
import { type ActivePlan, isForRoute, isSpared, type RequestFault } from '../kernel/fault.ts';
import type { ServedRoute } from '../kernel/route.ts';
import { cutConnection } from './connection.ts';
import { sendRefusal } from './send.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The plans that may hit it; null for nearly all requests, and for whatever people do. */
    faultPlans: readonly ActivePlan<RequestFault>[] | null;
    /** The plan that hit it. */
    faultPlan: ActivePlan<RequestFault> | null;
  }
}

/** What a plan is compared with. */
type Target = Pick<ServedRoute, 'path' | 'operationId' | 'method'>;

const retryAfterSecondsDefault = 1;

/**
 * Lets requests fail as the plans of their application say. It is asked when a request is found to be good, its key, scope, headers
 * and body, and nothing has been done for it yet: what would be refused anyway uses up no plan.
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
    // A server that is closing waits for nobody who only waits.
    app.addHook('preClose', (done) => {
      this.#isClosing = true;
      for (const letGo of this.#waiting) letGo();
      done();
    });
  }

  /** True when the request has ended here: with an error, or without an answer. */
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
        sendRefusal(reply, refusalBy(plan.id, fault), this.#docsUrl());
        return true;
      case 'reset_connection':
        cutConnection(reply, 'reset');
        return true;
      // The sender of answers does it, when there is one.
      case 'lose_answer':
        return false;
    }
  }

  /** The oldest plan that hits the request. One that matches and does not hit it leaves it to the next. */
  async #find(request: FastifyRequest, route: Target): Promise<ActivePlan<RequestFault> | undefined> {
    if (isSpared(route.path)) return undefined;
    for (const plan of request.faultPlans ?? [])
      if (isForRoute(plan, route) && (await this.#counter.take(plan, request.id))) return plan;
    return undefined;
  }

  #wait(ms: number): Promise<void> {
    if (this.#isClosing) return Promise.resolve();
    return new Promise((resolve) => {
      const letGo = () => {
        clearTimeout(timer);
        this.#waiting.delete(letGo);
        resolve();
      };
      const timer = setTimeout(letGo, ms);
      this.#waiting.add(letGo);
    });
  }
}

function refusalBy(planId: string, fault: Extract<RequestFault, { type: 'error' }>): Refusal {
  const { code } = fault;
  const usual = code === 'internal_error' ? undefined : retryAfterSecondsDefault;
  const retryAfterSeconds = fault.retryAfterSeconds ?? usual;
  return refuse(code, {
    message: `Fault plan ${planId}: this error was injected, and nothing was done. ${errorCatalogue[code].resolution}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
