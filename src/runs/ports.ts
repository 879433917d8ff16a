import type { AddressGuard } from '../delivery/address-guard.ts';
import { sealHeaders } from '../delivery/custom-headers.ts';
import { belongsTo, newWebhookSecret } from '../delivery/signature.ts';
import { KeyedMutex } from '../engine/keyed-mutex.ts';
import { newApiKey, newInvitationToken } from '../engine/tokens.ts';
import type { Vault } from '../engine/vault.ts';
import type { Ports } from '../kernel/prepare.ts';
import type { Coverage } from '../workers/coverage.ts';
import type { RequestLog } from '../workers/request-log.ts';
import type { ClockRunner } from './advance-run.ts';
import type { Examinations } from './examination-run.ts';
import { type ForkRunSettings, forkOrganization } from './fork-run.ts';
import { testWebhook, type WebhookTestSettings } from './webhook-test-run.ts';

export interface PortsSettings
  extends ForkRunSettings,
    WebhookTestSettings,
    Pick<Ports, 'publicUrl' | 'people'> {
  readonly vault: Vault;
  readonly guard: AddressGuard;
  readonly requestLog: Pick<RequestLog, 'flush'>;
  readonly coverage: Pick<Coverage, 'flush'>;
  readonly runner: ClockRunner;
  readonly examinations: Examinations;
}

/** Connects the prepare steps of commands to this process. The server and the tests both use it. */
export function createPorts(settings: PortsSettings): Ports {
  const { engine, reader, vault, guard, people, runner, examinations, requestLog, coverage } = settings;
  return {
    ...{ reader, people, wallClock: settings.wallClock, publicUrl: settings.publicUrl },
    ids: engine.idGenerator,
    mutex: new KeyedMutex(),
    secrets: {
      newApiKey,
      newInvitationToken,
      newWebhookSecret,
      sealWebhookSecret: (secret, orgId, webhookId) => vault.seal(secret, belongsTo(orgId, webhookId)),
      sealWebhookHeaders: (headers, orgId, webhookId) => sealHeaders(vault, headers, orgId, webhookId),
    },
    addressGuard: guard,
    flush: { requestLog: () => requestLog.flush(), coverage: () => coverage.flush() },
    runs: {
      advanceClock: (by, request) => runner.advance(by, request),
      examineWebhook: (requested, request) => examinations.examine(requested, request),
      testWebhook: testWebhook(settings),
      forkOrganization: forkOrganization(settings),
    },
  };
}
