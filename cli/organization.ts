import type { Operator } from '../sdk/client.ts';
import { CliProblem, wrongUsage } from './problem.ts';
import type { Session } from './session.ts';

const organizationsMax = 10_000;

/** The id of the organization that is meant: by its id or name, else that of the key, else the only one there is. */
export async function organizationOf(
  session: Session,
  operator: Operator,
  asked: string | undefined,
): Promise<string> {
  if (asked !== undefined && /^org_\w+$/.test(asked)) return asked;
  if (asked === undefined && session.settings.apiKey !== undefined) {
    const status = await (await session.sandbank()).status();
    return status.organization.id;
  }
  const all = await operator.organizations.list({ limit: 100 }).toArray({ itemsMax: organizationsMax });
  const found = asked === undefined ? all : all.filter(({ name }) => name === asked);
  const [first, second] = found;
  if (first === undefined)
    throw new CliProblem(
      asked === undefined
        ? 'The server has no organization yet: "sandbank organizations create" makes one.'
        : `There is no organization called "${asked}".`,
    );
  if (second !== undefined)
    throw wrongUsage(
      `${asked === undefined ? 'There are several organizations' : `Several organizations are called "${asked}"`}; name one by its id with --organization: ${found
        .slice(0, 5)
        .map(({ id, name }) => `${id} (${name})`)
        .join(', ')}.`,
    );
  return first.id;
}
