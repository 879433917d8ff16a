import { defaultApplicationSettings } from '../../kernel/application-settings.ts';
import { accepted, type CommandKind, change } from '../../kernel/command.ts';
import { formatId } from '../../kernel/ids.ts';
import { instantToText } from '../../kernel/list.ts';
import type { Scope } from '../../kernel/permissions.ts';
import type { Instant } from '../../kernel/table.ts';
import { apiKeyMachine, newKey } from '../api-keys/machine.ts';
import type { NewApiKey } from '../api-keys/table.ts';
import { applicationMachine, newApplication } from '../applications/machine.ts';
import { newOrganization, organizationMachine } from './machine.ts';

export interface CreateTenant {
  readonly name: string;
  readonly applicationName: string;
  readonly keyName: string;
  readonly scopes: readonly Scope[];
  readonly mayReset: boolean;
  readonly apiKey: NewApiKey;
  readonly expiresAt: Instant | null;
}

/**
 * Creates an organization with an application and an API key in one command, so that a test gets a tenant in the time of a single
 * write. The command runs in the new organization. Names are not unique.
 */
export const createTenant: CommandKind<CreateTenant> = {
  name: 'organizations.create',
  success: 'created',
  answersWithSecret: true,
  reads: () => [],
  decide: (
    { name, applicationName, keyName, scopes, mayReset, apiKey, expiresAt },
    { orgId, suffix, wallNow },
  ) => {
    const organization = newOrganization(orgId, name, 0, wallNow, expiresAt);
    const appId = formatId('application', suffix);
    const application = newApplication(orgId, appId, applicationName, defaultApplicationSettings, wallNow);
    const settings = { name: keyName, scopes, mayReset, allowedCidrs: [], expiresAt: null };
    const id = formatId('api_key', suffix);
    const key = newKey({ orgId, id, appId, ...settings, replaces: null }, apiKey, wallNow);
    const changes = [
      change(organizationMachine, 'create', null, organization),
      change(applicationMachine, 'create', null, application),
      change(apiKeyMachine, 'create', null, key),
    ];
    const { answer } = accepted([], 'organization', organization);
    const shown = {
      object: 'tenant',
      sandbox: true,
      status: 'ok',
      expiresAt: expiresAt === null ? null : instantToText(expiresAt),
      organization: { id: orgId, name },
      application: { id: appId, name: applicationName },
      apiKey: { id: key.id, scopes, mayReset },
    } as const;
    const secrets = { apiKey: { id: key.id, key: apiKey.key, scopes, mayReset } };
    return { ok: true, changes, answer: { ...answer, shown }, secrets };
  },
};
