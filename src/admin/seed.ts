import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { AddressGuard } from '../delivery/address-guard.ts';
import { belongsTo, newWebhookSecret } from '../delivery/signature.ts';
import type { Engine } from '../engine/engine.ts';
import { systemCommand } from '../engine/system-command.ts';
import type { Vault } from '../engine/vault.ts';
import { compileBody } from '../http/validate.ts';
import type { People } from '../identity/people.ts';
import type { CommandKind } from '../kernel/command.ts';
import { findCurrency } from '../kernel/currency.ts';
import { encodeSuffix, formatId, type Id, type IdKind } from '../kernel/ids.ts';
import { parseStrict } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { isCidr } from '../kernel/networks.ts';
import { isScope, roles } from '../kernel/permissions.ts';
import type { Reader } from '../kernel/table.ts';
import { declareApiKey } from '../resources/api-keys/machine.ts';
import { findKeyOwner } from '../resources/api-keys/store.ts';
import { type RequestedSettings, settingsOf } from '../resources/applications/api.ts';
import { declareApplication } from '../resources/applications/machine.ts';
import { declareOrganization } from '../resources/organizations/machine.ts';
import { declareMember, memberIdOf } from '../resources/organizations/member-machine.ts';
import { membersTable } from '../resources/organizations/member-table.ts';
import { declareWebhook } from '../resources/webhooks/declare-commands.ts';
import { webhooksTable } from '../resources/webhooks/table.ts';
import { type Seed, SeedSchema } from './seed-schema.ts';

type SeedUser = NonNullable<Seed['organizations'][number]['users']>[number];
type SeedApplication = NonNullable<Seed['organizations'][number]['applications']>[number];
type SeedKey = NonNullable<SeedApplication['apiKeys']>[number];
type SeedWebhook = NonNullable<SeedApplication['webhooks']>[number];

/** A seed that cannot be applied. Its message is one sentence for the person at the terminal. */
export class SeedProblem extends Error {
  override readonly name = 'SeedProblem';
}

const seedDepthMax = 16;
const checkSeed = compileBody(SeedSchema);

export async function readSeed(file: string): Promise<Seed> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new SeedProblem(`The seed file ${file} cannot be read: ${error.code ?? error.message}.`);
  });
  return parseSeed(content, `The seed file ${file}`);
}

export function parseSeed(content: string, what: string): Seed {
  const parsed = parseStrict(content, seedDepthMax);
  if (!parsed.ok) throw new SeedProblem(`${what} is not accepted: ${parsed.message}`);
  return checkedSeed(parsed.value, what);
}

export function checkedSeed(value: unknown, what: string): Seed {
  const refusal = checkSeed(value);
  if (refusal) {
    const messages = refusal.details.errors.map(({ message }) => message);
    const list = messages.length === 1 ? ` ${messages[0]}` : `\n  ${messages.join('\n  ')}`;
    throw new SeedProblem(`${what} is not accepted:${list}`);
  }
  const seed = value as Seed;
  for (const { name, applications } of seed.organizations) {
    for (const { apiKeys, fx } of applications ?? []) {
      for (const code of Object.keys(fx?.rates ?? {}).flatMap((pair) => pair.split('/'))) {
        if (!findCurrency(code))
          throw new SeedProblem(
            `${what} is not accepted: "${code}" in the rates of organization "${name}" is not a supported currency.`,
          );
      }
      for (const cidr of (apiKeys ?? []).flatMap(({ allowedCidrs }) => allowedCidrs ?? [])) {
        if (!isCidr(cidr))
          throw new SeedProblem(
            `${what} is not accepted: "${cidr}" in organization "${name}" is not a network such as 10.0.0.0/8.`,
          );
      }
    }
  }
  return seed;
}

/** The API key that the command line uses on a server with this seed: the first one that the seed does not revoke. */
export function firstKeyOf({ organizations }: Seed): string | undefined {
  return organizations
    .flatMap(({ applications }) => applications ?? [])
    .flatMap(({ apiKeys }) => apiKeys ?? [])
    .find(({ revoked }) => revoked !== true)?.key;
}

/** The server components that applying a seed needs. */
export interface SeedTarget {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly vault: Vault;
  readonly guard: AddressGuard;
  readonly people: People;
}

/** A secret that the server generated for a webhook without one in the file. It is printed once. */
export interface GeneratedSecret {
  readonly url: string;
  readonly secret: string;
}

const declareAttemptsMax = 5;
const declarePauseMs = 500;

export async function applySeed(
  seed: Seed,
  target: SeedTarget,
  wallClock: () => number,
): Promise<readonly GeneratedSecret[]> {
  const { engine, reader } = target;
  const generated: GeneratedSecret[] = [];
  for (const organization of seed.organizations) {
    const orgId = derivedId('organization', organization.name);
    const declare = async <Input>(kind: CommandKind<Input>, input: Input): Promise<void> => {
      for (let attempt = 1; ; attempt += 1) {
        const { code } = await engine.submit(
          systemCommand(
            kind,
            input,
            { orgId, appId: null },
            'seed',
            wallClock(),
            engine.idGenerator.background(orgId),
          ),
        );
        if (code === null) return;
        // A lost database connection, as in a failover, must not fail the start. Declarations are idempotent.
        if (code !== 'service_unavailable' || attempt === declareAttemptsMax)
          throw new SeedProblem(`Organization "${organization.name}" could not be declared: ${code}.`);
        await setTimeout(declarePauseMs);
      }
    };
    await declare(declareOrganization, { name: organization.name });
    // Owners first: an organization must always have an owner, also when the seed replaces one by another.
    const users = [...(organization.users ?? [])].sort(
      (a, b) => roles.indexOf(b.role) - roles.indexOf(a.role),
    );
    for (const user of users)
      await declare(declareMember, {
        personId: await personOf(user, orgId, organization.name, target),
        role: user.role,
      });
    for (const application of organization.applications ?? []) {
      const appId = derivedId('application', `${orgId} ${application.name}`);
      await declare(declareApplication, {
        id: appId,
        name: application.name,
        settings: settingsOf(application as RequestedSettings),
      });
      for (const key of application.apiKeys ?? [])
        await declare(declareApiKey, await keyInput(key, orgId, appId, reader));
      for (const webhook of application.webhooks ?? []) {
        const { isGenerated, ...input } = await webhookInput(webhook, orgId, appId, target);
        await declare(declareWebhook, input);
        if (isGenerated) generated.push({ url: webhook.url, secret: input.secret });
      }
    }
  }
  return generated;
}

/** A self-registered account gets no role from a seed: addresses are not verified, so the account may be somebody else's. */
async function personOf(
  user: SeedUser,
  orgId: Id<'organization'>,
  organizationName: string,
  { people, reader }: Pick<SeedTarget, 'people' | 'reader'>,
): Promise<Id<'person'>> {
  const { id, isSeeded } = await people.declare(user);
  if (isSeeded) return id;
  const member = await reader.byKey(membersTable, orgId, memberIdOf(id));
  const isUnchanged = member?.status === 'removed' || member?.role === user.role;
  if (member && isUnchanged) return id;
  throw new SeedProblem(
    `The seed makes ${user.email} ${user.role} of organization "${organizationName}", but somebody has already registered this address. Remove the user from the seed and invite the person (sandbank users invite), or add "takeOver": true to the user: the account then gets the password of the seed, and its sessions and second factor end.`,
  );
}

async function webhookInput(
  webhook: SeedWebhook,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
  target: SeedTarget,
) {
  const { url, secret: given, description, eventTypes, retryProfile, maxConcurrency } = webhook;
  const { reader, vault, guard } = target;
  const problem = await guard.problemOf(url);
  if (problem !== null) throw new SeedProblem(`The webhook ${url} is not accepted: ${problem}`);
  const id = derivedId('webhook', `${appId} ${url}`);
  const owner = belongsTo(orgId, id);
  const before = await reader.byKey(webhooksTable, orgId, id);
  const [current] = before?.secrets ?? [];
  const stored = current && vault.open(current.sealed, owner);
  const secret = given ?? stored ?? newWebhookSecret();
  return {
    id,
    appId,
    fields: {
      url,
      description: description ?? null,
      eventTypes: eventTypes ?? ['*'],
      retryProfile: retryProfile ?? 'standard',
      concurrencyMax: maxConcurrency ?? limits.webhookConcurrencyDefault,
    },
    secret,
    sealed: vault.seal(secret, owner),
    isSameSecret: secret === stored,
    isGenerated: given === undefined && stored === undefined && before?.status !== 'deleted',
  };
}

async function keyInput(
  key: SeedKey,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
  reader: Pick<Reader, 'first'>,
) {
  const hash = createHash('sha256').update(key.key).digest();
  const owner = await findKeyOwner(reader, hash);
  if (owner && (owner.orgId !== orgId || owner.appId !== appId)) {
    throw new SeedProblem(
      `The key "${key.name}" already belongs to application "${owner.appName}" of organization "${owner.orgName}"; a key has one owner.`,
    );
  }
  return {
    id: formatId('api_key', encodeSuffix(asUuid(hash))),
    appId,
    hash,
    lastFour: key.key.slice(-4),
    settings: {
      name: key.name,
      scopes: key.scopes.filter(isScope),
      allowedCidrs: key.allowedCidrs ?? [],
      expiresAt: key.expiresAt === undefined ? null : Date.parse(key.expiresAt),
      mayReset: key.mayReset ?? false,
    },
    isRevoked: key.revoked ?? false,
  };
}

function derivedId<Kind extends IdKind>(kind: Kind, name: string): Id<Kind> {
  return formatId(kind, encodeSuffix(asUuid(createHash('sha256').update(`${kind} ${name}`).digest())));
}

/** The first sixteen bytes of a hash as a UUID of version 8, the version for custom content. */
function asUuid(hash: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(hash.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
}
