import { defaultApplicationSettings } from '../../src/kernel/application-settings.ts';
import { refuse } from '../../src/kernel/errors.ts';
import { roles, scopesOf } from '../../src/kernel/permissions.ts';
import type { ConsoleRoute, Principal, ReadAnswer } from '../../src/kernel/route.ts';
import type { Server } from '../../src/server.ts';
import type { KeyHolder } from './tenant.ts';

/** A person of the least role who is signed in to the console. */
export function viewerOf({ orgId, orgName, appId, appName }: KeyHolder): Principal {
  const [role] = roles;
  return {
    ...{ orgId, orgName, appId, appName, role },
    settings: defaultApplicationSettings,
    actor: { kind: 'person', id: 'usr_01m7epxwjmf7za77rhky2f93cc' },
    name: 'Vera',
    scopes: scopesOf(role),
    mayReset: false,
  };
}

/** Reads a route of the console past HTTP, as a person of an organization. */
export async function readConsole<Shown = Record<string, unknown>>(
  server: Server,
  routes: readonly ConsoleRoute[],
  path: string,
  whose: KeyHolder,
  {
    params = {},
    query = {},
    now = Date.now(),
  }: { params?: Record<string, string>; query?: unknown; now?: number } = {},
): Promise<ReadAnswer & Shown> {
  const route = routes.find((one) => one.path === path);
  if (route?.method !== 'GET') throw new Error(`${path} is not read`);
  const principal = viewerOf(whose);
  const answer = await route.read({
    principal,
    params,
    query,
    now,
    reader: server.reader,
    accepts: () => false,
  });
  return (answer ?? refuse('resource_not_found')) as ReadAnswer & Shown;
}
