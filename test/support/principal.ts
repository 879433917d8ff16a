import { defaultApplicationSettings } from '../../src/kernel/application-settings.ts';
import { RenderedResource } from '../../src/kernel/envelope.ts';
import { refuse } from '../../src/kernel/errors.ts';
import { formatId } from '../../src/kernel/ids.ts';
import { roles, scopesOf } from '../../src/kernel/permissions.ts';
import type { ConsoleRoute, PresentedPage, Principal, ReadAnswer } from '../../src/kernel/route.ts';
import type { Server } from '../../src/server.ts';
import type { KeyHolder } from './tenant.ts';

/** A signed-in person with the lowest role. */
export function viewerOf({ orgId, orgName, appId, appName }: KeyHolder): Principal {
  const [role] = roles;
  return {
    ...{ orgId, orgName, appId, appName, role },
    settings: defaultApplicationSettings,
    actor: { kind: 'person', id: formatId('person', '01m7epxwjmf7za77rhky2f93cc') },
    name: 'Vera',
    scopes: scopesOf(role),
    mayReset: false,
  };
}

/** Calls a console read route without HTTP, as a viewer of an organization. */
export async function readConsole<Shown = Record<string, unknown>>(
  server: Server,
  routes: readonly ConsoleRoute[],
  path: string,
  owner: KeyHolder,
  {
    params = {},
    query = {},
    now = Date.now(),
  }: { params?: Record<string, string>; query?: unknown; now?: number } = {},
): Promise<Exclude<ReadAnswer, RenderedResource | PresentedPage> & Shown> {
  const route = routes.find((one) => one.path === path);
  if (route?.method !== 'GET') throw new Error(`${path} is not a read route`);
  const principal = viewerOf(owner);
  const answer = await route.read({
    principal,
    params,
    query,
    now,
    reader: server.reader,
    accepts: () => false,
  });
  return parsed(answer ?? refuse('resource_not_found')) as Exclude<
    ReadAnswer,
    RenderedResource | PresentedPage
  > &
    Shown;
}

/** Records that are rendered already, as the objects that a client gets. */
function parsed(answer: ReadAnswer): unknown {
  if (answer instanceof RenderedResource) return answer.toJSON();
  if (!('data' in answer) || !Array.isArray(answer.data)) return answer;
  const shown = (record: unknown) => (record instanceof RenderedResource ? record.toJSON() : record);
  return { ...answer, data: answer.data.map(shown) };
}
