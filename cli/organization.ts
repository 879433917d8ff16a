import type { Operator } from '../sdk/client.ts';
import { CliProblem, wrongUsage } from './problem.ts';
import type { Session } from './session.ts';

const organizationsMax = 10_000;

/** The organization id: by id or name if passed, else that of the API key, else the only one on the server. */
export async function organizationOf(
  session: Session,
  operator: Operator,
  wanted: string | undefined,
): Promise<string> {
  if (wanted !== undefined && /^org_\w+$/.test(wanted)) return wanted;
  if (wanted === undefined && session.settings.apiKey !== undefined) {
    const status = await (await session.sandbank()).status();
    return status.organization.id;
  }
  const all = await operator.organizations.list({ limit: 100 }).toArray({ itemsMax: organizationsMax });
  const found = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  const [first, second] = found;
  if (first === undefined)
    throw new CliProblem(
      wanted === undefined
        ? 'The server has no organization yet. Create one with "sandbank organizations create".'
        : `There is no organization called "${wanted}".`,
    );
  if (second !== undefined)
    throw wrongUsage(
      `${wanted === undefined ? 'There are several organizations' : `Several organizations are called "${wanted}"`}; name one by its id with --organization: ${found
        .slice(0, 5)
        .map(({ id, name }) => `${id} (${name})`)
        .join(', ')}.`,
    );
  return first.id;
}
