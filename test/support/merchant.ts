import type { FastifyInstance } from 'fastify';
import type { Server } from '../../src/server.ts';
import { type ClockApi, clockApi } from './clock.ts';
import { type PaymentApi, paymentApi } from './payments.ts';
import { type Tenant, tenant } from './tenant.ts';
import { type WebhookApi, webhookApi } from './webhooks.ts';

/** A new organization and the calls that most tests need. */
export interface Merchant extends Tenant, WebhookApi {
  readonly payments: PaymentApi;
  readonly clock: ClockApi;
}

export interface MerchantSettings {
  /** The app that gets the calls, if it is not that of the server. */
  readonly app?: FastifyInstance;
  /** With a frozen clock every time in a response is known. */
  readonly isFrozen?: boolean;
}

export async function openMerchant(server: Server, settings: MerchantSettings = {}): Promise<Merchant> {
  const { app = server.app, isFrozen = false } = settings;
  const holder = await tenant(server);
  const client = holder.clientOn(app);
  const clock = clockApi(client);
  if (isFrozen) await clock.freeze();
  return { ...holder, ...webhookApi(client), client, payments: paymentApi(client), clock };
}
