import type { Command } from 'commander';
import type { Scope } from '../../sdk/client.ts';
import { confirm } from '../confirm.ts';
import { declare, group } from '../declare.ts';
import { scopes as allScopes } from '../generated/values.ts';
import { fields } from '../layout.ts';
import { organizationOf } from '../organization.ts';
import { type PageOptions, pageOptions, showPage, withoutUndefined } from '../paging.ts';
import { CliProblem } from '../problem.ts';
import { listOf } from '../reading.ts';

interface KeyOptions {
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly organization?: string;
  readonly application?: string;
  readonly mayReset?: true;
}

interface OrganizationOptions {
  readonly scopes?: readonly Scope[];
  readonly application?: string;
  readonly keyName?: string;
  readonly expiresAt?: string;
}

interface DeleteOptions {
  readonly yes?: true;
}

const needsToken =
  'It needs the operator token: set SANDBANK_OPERATOR_TOKEN, or run it in the folder where "sandbank start" runs.';

export function addTenancy(program: Command): void {
  const keys = group(program, 'keys', 'Create API keys');
  addCreateKey(keys);
  const organizations = group(program, 'organizations', 'Create, list and delete organizations');
  addListOrganizations(organizations);
  addCreateOrganization(organizations);
  addDeleteOrganization(organizations);
}

function addCreateKey(keys: Command): void {
  declare<KeyOptions>(keys, 'create', {
    summary: 'Create an API key; it is shown once',
    details: needsToken,
    options: [
      ['--name <name>', 'name of the key', undefined, 'cli'],
      ['--scopes <scopes>', 'such as payments:read,payments:write (default: all)', listOf(allScopes)],
      ['--organization <name>', 'name or id (default: that of the current key, or the only one)'],
      ['--application <id>', 'application id (default: the first one)'],
      ['--may-reset', 'allow the key to reset the organization'],
    ],
    examples: [
      ['keys create --name ci --scopes payments:read,payments:write'],
      ['keys create --organization Acme --json | jq -r .key'],
    ],
    run: async (session, { name, scopes, organization, application, mayReset }) => {
      const operator = await session.operator();
      const id = await organizationOf(session, operator, organization);
      const key = await operator.keys.create(
        id,
        withoutUndefined({ name, scopes, applicationId: application, mayReset }),
      );
      session.out.show(key, () =>
        fields([
          ['key', key.key],
          ['id', key.id],
          ['name', key.name],
          ['scopes', key.scopes.join(' ')],
          ['may reset', key.mayReset ? 'yes' : 'no'],
        ]),
      );
      if (!session.out.isJson) session.out.say('Store the key now: it is not shown again.');
      return undefined;
    },
  });
}

function addListOrganizations(organizations: Command): void {
  declare<PageOptions>(organizations, 'list', {
    summary: 'List the organizations of the server, newest first',
    details: needsToken,
    options: pageOptions,
    examples: [['organizations list']],
    run: async (session, { limit, cursor }) => {
      const pages = (await session.operator()).organizations.list(
        withoutUndefined({ limit, cursor }) as { limit?: number; cursor?: string },
      );
      await showPage(session.out, pages, ['ORGANIZATION', 'NAME', 'CREATED'], (one) => [
        one.id,
        one.name,
        one.createdAt,
      ]);
      return undefined;
    },
  });
}

function addCreateOrganization(organizations: Command): void {
  declare<OrganizationOptions>(organizations, 'create <name>', {
    summary: 'Create an organization with an application and a key, which is shown once',
    details: needsToken,
    options: [
      ['--application <name>', 'name of its application'],
      ['--key-name <name>', 'name of its key'],
      ['--scopes <scopes>', 'scopes of its key (default: all)', listOf(allScopes)],
      ['--expires-at <time>', 'delete it at this time, such as 2026-12-01T00:00:00Z (default: never)'],
    ],
    examples: [
      ['organizations create "Team Blue"'],
      ['organizations create ci-17 --json | jq -r .apiKey.key'],
    ],
    run: async (session, { application, keyName, scopes, expiresAt }, name = '') => {
      const body = withoutUndefined({
        name,
        application: application === undefined ? undefined : { name: application },
        keyName,
        scopes,
        expiresAt,
      });
      const tenant = await (await session.operator()).organizations.create(body);
      session.out.show(tenant, () =>
        fields([
          ['organization', `${tenant.organization.name} (${tenant.organization.id})`],
          ['application', `${tenant.application.name} (${tenant.application.id})`],
          ['key', tenant.apiKey.key],
        ]),
      );
      if (!session.out.isJson) session.out.say('Store the key now: it is not shown again.');
      return undefined;
    },
  });
}

function addDeleteOrganization(organizations: Command): void {
  declare<DeleteOptions>(organizations, 'delete <organization>', {
    summary: 'Delete an organization and its data, except the audit trail',
    details: `Pass its name or id. It asks for confirmation; without a terminal, pass --yes. ${needsToken}`,
    options: [['--yes', 'do not ask for confirmation']],
    examples: [['organizations delete ci-17 --yes'], ['organizations delete org_01m7epxwjmf7za77rhky2f93cc']],
    run: async (session, { yes }, organization = '') => {
      const operator = await session.operator();
      const id = await organizationOf(session, operator, organization);
      const question = `This deletes the organization ${organization} (${id}) at ${session.settings.url}. Its API keys stop working.`;
      if (!yes && !(await confirm(session, question))) throw new CliProblem('Nothing was deleted.');
      const answer = await operator.organizations.delete(id);
      session.out.show(answer, () => `Deleted ${answer.name} (${answer.id}).`);
      return undefined;
    },
  });
}
