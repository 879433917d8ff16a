import type { Engine } from '../engine/engine.ts';
import type { StepSuffixes } from '../engine/id-generator.ts';
import { refusedCommand } from '../engine/submission.ts';
import { assert } from '../kernel/assert.ts';
import type { Answer, CommandKind, CommandRequest, Submission } from '../kernel/command.ts';
import type { Presented } from '../kernel/envelope.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { Id } from '../kernel/ids.ts';
import type { Runs } from '../kernel/prepare.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { declareMember } from '../resources/organizations/member-machine.ts';
import {
  mayCreateOrganization,
  refuseTooManyOrganizations,
} from '../resources/organizations/member-store.ts';
import {
  beginFork,
  type ConcludeFork,
  concludeFork,
  importOrganization,
} from '../resources/organizations/snapshot-commands.ts';
import type { ImportResult, Snapshots } from '../snapshots/snapshots.ts';
import { begunWith, drive, type Outcome, type Run } from './run.ts';

export interface ForkRunSettings {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly snapshots: Snapshots;
  /** Whether anyone may sign up and create an organization. */
  readonly isOpen: boolean;
  readonly wallClock: () => Instant;
}

/** The response to an import, with the keys and webhook secrets that it created. */
export function presentImport(result: ImportResult): Presented {
  return { ...presentWithoutSecrets(result), ...secretsOf(result) };
}

function presentWithoutSecrets({ organization, applications, apiKeys, webhooks, counts }: ImportResult) {
  return {
    ...({ object: 'import', sandbox: true, status: 'ok' } as const),
    ...{ organization, applications },
    apiKeys: apiKeys.map(({ id, name }) => ({ id, name })),
    webhooks: webhooks.map(({ id, url }) => ({ id, url })),
    counts,
  } satisfies Presented;
}

function secretsOf({ apiKeys, webhooks }: ImportResult) {
  return {
    apiKeys,
    webhooks: webhooks.map(({ id, url, secret }) => ({
      id,
      url,
      ...(secret === undefined ? {} : { secret }),
    })),
  };
}

/** A person forks their organization, and owns the copy. */
export function forkOrganization(settings: ForkRunSettings): Runs['forkOrganization'] {
  return (requested, request) => drive(new ForkRun(settings, requested.name, request));
}

interface Imported {
  readonly result: ImportResult;
  readonly steps: StepSuffixes;
}

class ForkRun implements Run<StepSuffixes, Imported> {
  readonly #settings: ForkRunSettings;
  readonly #name: string;
  readonly #request: CommandRequest;

  constructor(settings: ForkRunSettings, name: string, request: CommandRequest) {
    this.#settings = settings;
    this.#name = name;
    this.#request = request;
  }

  async begin(): Promise<Outcome<StepSuffixes>> {
    const { engine, reader, isOpen } = this.#settings;
    const { actor, suffix } = this.#request.context;
    assert(actor.kind === 'person', 'only a person can fork an organization');
    if (!(await mayCreateOrganization(reader, actor.id, isOpen)))
      return { answer: await this.#refused(refuse('registration_closed'), this.#request) };
    const tooMany = await refuseTooManyOrganizations(reader, actor.id);
    if (tooMany) return { answer: await this.#refused(tooMany, this.#request) };
    const begun = await engine.submit({ ...this.#request, kind: beginFork, input: { name: this.#name } });
    return begunWith(begun, () => engine.idGenerator.stepSuffixes(suffix));
  }

  async step(steps: StepSuffixes): Promise<Outcome<Imported>> {
    const { engine, snapshots, wallClock } = this.#settings;
    const { orgId, actor, requestId } = this.#request.context;
    assert(actor.kind === 'person', 'only a person can fork an organization');
    const result = await snapshots.fork(orgId, { name: this.#name, requestId, now: wallClock() });
    if ('ok' in result) return { answer: await this.#refused(result, this.#next(steps)) };
    const { id: forkId } = result.organization;
    await engine.submit(this.#inFork(forkId, importOrganization, null));
    const joined = await engine.submit(
      this.#inFork(forkId, declareMember, { personId: actor.id, role: 'owner' }),
    );
    return joined.code === null ? { value: { result, steps } } : { answer: joined };
  }

  finish({ result, steps }: Imported): Promise<Answer> {
    const input: ConcludeFork = { shown: presentWithoutSecrets(result), secrets: secretsOf(result) };
    return this.#settings.engine.submit({ ...this.#next(steps), kind: concludeFork, input });
  }

  #refused(refusal: Refusal, request: CommandRequest): Promise<Answer> {
    const kind = refusedCommand(beginFork.name, refusal);
    return this.#settings.engine.submit({ ...request, kind, input: undefined, idempotency: null });
  }

  /** Every command has its own row in the audit trail, and therefore its own suffix. */
  #next(steps: StepSuffixes): CommandRequest {
    return { ...this.#request, context: { ...this.#request.context, suffix: steps.next() } };
  }

  /** The fork's audit trail also names the person, the request and the IP address. */
  #inFork<Input, Result>(
    forkId: Id<'organization'>,
    kind: CommandKind<Input, Result>,
    input: Input,
  ): Submission<Input, Result> {
    const { engine, wallClock } = this.#settings;
    const context = {
      ...this.#request.context,
      ...{ orgId: forkId, appId: null, suffix: engine.idGenerator.background(forkId) },
    };
    return { kind, input, context, idempotency: null, wallNow: wallClock() };
  }
}
