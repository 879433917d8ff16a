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
import { encodeSuffix, formatId, type IdKind } from '../kernel/ids.ts';
import { parseStrict } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { isCidr } from '../kernel/networks.ts';
import { isScope, roles } from '../kernel/permissions.ts';
import type { Reader } from '../kernel/route.ts';
import { declareApiKey } from '../resources/api-keys/machine.ts';
import { findKeyOwner } from '../resources/api-keys/store.ts';
import { type RequestedSettings, settingsOf } from '../resources/applications/api.ts';
import { declareApplication } from '../resources/applications/machine.ts';
import { declareOrganization } from '../resources/organizations/machine.ts';
import { declareMember, memberIdOf } from '../resources/organizations/member-machine.ts';
import { membersTable } from '../resources/organizations/member-table.ts';
import { declareWebhook } from '../resources/webhooks/machine.ts';
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
  const parsed = parseStrict(content, seedDepthMax);
  if (!parsed.ok) throw new SeedProblem(`The seed file ${file} is not accepted: ${parsed.message}`);
  return checkedSeed(parsed.value, `The seed file ${file}`);
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
            `${what} is not accepted: "${code}" in the rates of organization "${name}" is no currency that is supported.`,
          );
      }
      for (const cidr of (apiKeys ?? []).flatMap(({ allowedCidrs }) => allowedCidrs ?? [])) {
        if (!isCidr(cidr))
          throw new SeedProblem(
            `${what} is not accepted: "${cidr}" in organization "${name}" is no network such as 10.0.0.0/8.`,
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

/** The parts of a server that a seed goes through. */
export interface SeedTarget {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly vault: Vault;
  readonly guard: AddressGuard;
  readonly people: People;
}

/** A secret that was made for a webhook, because the file gave none. It is told once. */
export interface MadeSecret {
  readonly url: string;
  readonly secret: string;
}

const declareAttemptsMax = 5;
const declarePauseMs = 500;

export async function applySeed(
  seed: Seed,
  target: SeedTarget,
  wallClock: () => number,
): Promise<readonly MadeSecret[]> {
  const { engine, reader } = target;
  const made: MadeSecret[] = [];
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
        // A database connection that is lost here, as in a failover, must not fail the start. Declaring again has no second effect.
        if (code !== 'service_unavailable' || attempt === declareAttemptsMax)
          throw new SeedProblem(`Organization "${organization.name}" could not be declared: ${code}.`);
        await setTimeout(declarePauseMs);
      }
    };
    await declare(declareOrganization, { name: organization.name });
    // Owners first: when one takes over from another, there must be one all the time.
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
        const { isMade, ...input } = await webhookInput(webhook, orgId, appId, target);
        await declare(declareWebhook, input);
        if (isMade) made.push({ url: webhook.url, secret: input.secret });
      }
    }
  }
  return made;
}

/** An account that somebody registered themselves gets no role by a seed: the address proves nothing, because nobody checks it. */
async function personOf(
  user: SeedUser,
  orgId: string,
  organizationName: string,
  { people, reader }: Pick<SeedTarget, 'people' | 'reader'>,
): Promise<string> {
  const { id, isSeeded } = await people.declare(user);
  if (isSeeded) return id;
  const member = await reader.byKey(membersTable, orgId, memberIdOf(id));
  const isUnchanged = member?.status === 'removed' || member?.role === user.role;
  if (member && isUnchanged) return id;
  throw new SeedProblem(
    `The seed makes ${user.email} ${user.role} of organization "${organizationName}", but somebody registered this address themselves, before the seed named it. Remove the user from the seed and invite the person (sandbank users invite), or add "takeOver": true to the user: the account then gets the password of the seed, and its sessions and second factor end.`,
  );
}

async function webhookInput(asked: SeedWebhook, orgId: string, appId: string, target: SeedTarget) {
  const { url, secret: given, description, eventTypes, retryProfile, maxConcurrency } = asked;
  const { reader, vault, guard } = target;
  const problem = await guard.problemOf(url);
  if (problem !== null) throw new SeedProblem(`The webhook ${url} is not accepted: ${problem}`);
  const id = derivedId('webhook', `${appId} ${url}`);
  const owner = belongsTo(orgId, id);
  const before = await reader.byKey(webhooksTable, orgId, id);
  const [current] = before?.secrets ?? [];
  const kept = current && vault.open(current.sealed, owner);
  const secret = given ?? kept ?? newWebhookSecret();
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
    isSameSecret: secret === kept,
    isMade: given === undefined && kept === undefined,
  };
}

async function keyInput(key: SeedKey, orgId: string, appId: string, reader: Pick<Reader, 'rows'>) {
  const hash = createHash('sha256').update(key.key).digest();
  const owner = await findKeyOwner(reader, hash);
  if (owner && (owner.orgId !== orgId || owner.appId !== appId)) {
    throw new SeedProblem(
      `The key "${key.name}" belongs to application "${owner.appName}" of organization "${owner.orgName}" already; a key has one owner.`,
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

function derivedId(kind: IdKind, name: string): string {
  return formatId(kind, encodeSuffix(asUuid(createHash('sha256').update(`${kind} ${name}`).digest())));
}

/** The first sixteen bytes of a hash, marked as a UUID of version 8: one whose bits are the maker's own. */
function asUuid(hash: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(hash.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
}
