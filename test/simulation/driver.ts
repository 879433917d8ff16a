/** Runs one random sequence against the server and compares every response with the model. */
import { isDeepStrictEqual } from 'node:util';
import {
  advanceDispute,
  advanceRefund,
  allowedDisputeActions,
  allowedRefundActions,
  next,
  walk,
} from '../model/advance.ts';
import { balancesOf, difference } from '../model/balances.ts';
import * as model from '../model/payments.ts';
import { isRefused, type Payment, type Refused, transitionsOf } from '../model/payments.ts';
import {
  expectedDispute,
  expectedPayment,
  expectedRefund,
  postedBy,
  shownPart,
  shownPayment,
} from '../model/shown.ts';
import type { Body } from '../support/api-client.ts';
import type { Answer, SimulationClient, SimulationOrganization } from './clients.ts';
import type { Command } from './commands.ts';
import { askOf, fieldsOf, flawed, formatted, likely, nonZero, paramsOf, pick, sorted } from './requests.ts';

export interface Tracked {
  readonly id: string;
  payment: Payment;
  /** Null until read from the list: the response to an advance of the payment does not contain a refund that it created. */
  readonly refundIds: (string | null)[];
  readonly disputeIds: string[];
}

interface Sent {
  readonly app: number;
  readonly path: string;
  readonly body: object | undefined;
  readonly key: string;
  readonly status: number;
  readonly text: string;
}

/** State and allowed actions of a record, which an error response must report. */
interface RecordState {
  readonly status: string;
  readonly open: readonly string[];
}

type Of<Do extends Command['do']> = Extract<Command, { readonly do: Do }>;

const payments = 'developer_api_payments';
const missingSuffix = '0'.repeat(26);

// Parameters of the command that runs instead when there is no refund or dispute to end.
const partOfIt = { share: 300, currency: null, isFinal: false, failureCode: null } as const;

/** A response differs from the model. The message has all previous requests. */
class Mismatch extends Error {
  override readonly name = 'Mismatch';
}

export class Sequence {
  readonly tracked: Tracked[] = [];
  readonly outcomes = new Map<string, number>();
  /** Requests whose response is stored for replay. */
  readonly replayable: Sent[] = [];
  readonly #organization: SimulationOrganization;
  readonly #number: number;
  readonly #requestCounts: number[];
  readonly #log: string[] = [];

  constructor(organization: SimulationOrganization, number: number) {
    this.#organization = organization;
    this.#number = number;
    this.#requestCounts = organization.applications.map(() => 0);
  }

  async run(commands: readonly Command[]): Promise<void> {
    try {
      for (const command of commands) await this.#step(command);
      for (const tracked of this.tracked) await this.#checkTrail(tracked);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Mismatch(`${message}\nsequence ${this.#number}:\n  ${this.#log.join('\n  ')}`, {
        cause: error,
      });
    }
  }

  async #step(command: Command): Promise<void> {
    switch (command.do) {
      case 'create':
        return this.#create(command);
      case 'create badly':
        return this.#refused(
          await this.#post(command, payments, flawed[command.flaw]),
          command.flaw === 'no currency' ? 'unsupported_currency' : 'invalid_request',
        );
      case 'next':
        return this.#advance(command, command.at % 2 === 0 ? {} : undefined, next);
      case 'act':
        return this.#act(command);
      case 'walk':
        return this.#walk(command);
      case 'ask badly': {
        const path = `${payments}/${this.#pick(command.at)?.id ?? `pay_${missingSuffix}`}/advance`;
        return this.#refused(await this.#post(command, path, command.body), 'invalid_request');
      }
      case 'refund':
        return this.#refund(command);
      case 'end refund':
        return this.#endRefund(command);
      case 'move dispute':
        return this.#moveDispute(command);
      case 'other organization': {
        const path = `${payments}/${this.#pick(command.at)?.id}/${command.expands ? 'advance' : 'refund'}`;
        this.#log.push(`other organization ${path}`);
        return this.#refused(
          await this.#organization.stranger.post(
            path,
            {},
            `${this.#organization.orgId}-${this.#number}-${this.#log.length}`,
          ),
          'resource_not_found',
        );
      }
      case 'replay':
        return this.#replay(this.replayable[command.at % Math.max(1, this.replayable.length)]);
      case 'reuse the key':
        return this.#reuse(this.replayable[command.at % Math.max(1, this.replayable.length)]);
    }
  }

  async #create(command: Of<'create'>): Promise<void> {
    const { amount, currency, isManual, method, scenario, app } = command;
    const answer = await this.#post(command, payments, {
      amount,
      currency,
      ...(isManual === null ? {} : { captureMethod: isManual ? 'manual' : 'automatic' }),
      ...(method === null ? {} : { paymentMethod: { type: method } }),
      ...(scenario === null ? {} : { scenario }),
    });
    const payment = model.newPayment({
      amount: BigInt(amount),
      currency: currency.toUpperCase(),
      isManual: isManual ?? false,
      scenario: scenario ?? 'approve',
      terms: this.#application(app).fee,
    });
    this.#same('the status of the create request', answer.status, 201);
    this.#same('a new payment', shownPayment(answer.body), expectedPayment(payment));
    this.tracked.push({ id: answer.body.id, payment, refundIds: [], disputeIds: [] });
  }

  async #act(command: Of<'act'>): Promise<void> {
    const { payment } = this.#need(command.at);
    const open = likely(model.allowedActions(payment));
    // A final payment has no allowed actions: then any action is sent.
    const chosen = typeof command.action === 'string' ? command.action : open[command.action % open.length];
    const action = chosen ?? 'authorize';
    const params = paramsOf(command, payment, action);
    await this.#advance(command, { action, ...fieldsOf(params) }, () => model.act(payment, action, params));
  }

  async #walk(command: Of<'walk'>): Promise<void> {
    const { payment } = this.#need(command.at);
    const kind = { partially_captured: 'capture', partially_refunded: 'refund', disputed: 'dispute' };
    const action = command.to === 'failed' ? 'fail' : kind[command.to as keyof typeof kind];
    const { isFinal: _isFinal, ...params } = paramsOf(command, payment, action ?? 'none');
    await this.#advance(command, { to: command.to, ...fieldsOf(params) }, () =>
      walk(payment, command.to, params),
    );
  }

  async #advance(
    command: Of<'next' | 'act' | 'walk'>,
    body: object | undefined,
    decide: (payment: Payment) => Payment | Refused,
  ): Promise<void> {
    const tracked = this.#need(command.at);
    const before = tracked.payment;
    const outcome = decide(before);
    const answer = await this.#post(command, `${payments}/${tracked.id}/advance`, body);
    if (isRefused(outcome)) return this.#refused(answer, outcome.refused, stateOf(before));
    this.#same('the status of the advance request', answer.status, 200);
    this.#same('the payment', shownPayment(answer.body), expectedPayment(outcome));
    tracked.payment = outcome;
    if (outcome.refunds.length > before.refunds.length) tracked.refundIds.push(null);
    if (outcome.disputes.length > before.disputes.length)
      tracked.disputeIds.push(String(answer.body.disputeId));
    this.#checkEntries(command, answer.body, before, outcome);
  }

  async #refund(command: Of<'refund'>): Promise<void> {
    const isOpen = ({ payment }: Tracked) => model.returnable(payment) > 0n && payment.status !== 'disputed';
    const tracked = pick(command.at, this.tracked, isOpen) ?? this.#need(command.at);
    // A payment with nothing to refund yet is captured instead.
    if (command.at > 2 && !isOpen(tracked)) return this.#step({ ...command, do: 'walk', to: 'captured' });
    const before = tracked.payment;
    const params = paramsOf(command, before, 'refund');
    const outcome = model.act(before, 'refund', params);
    const answer = await this.#post(command, `${payments}/${tracked.id}/refund`, fieldsOf(params));
    if (isRefused(outcome)) return this.#refused(answer, outcome.refused, stateOf(before));
    const index = outcome.refunds.length - 1;
    this.#same('the status of the refund request', answer.status, 201);
    this.#same('the refund', shownPart(answer.body), expectedRefund(tracked.id, outcome, index));
    tracked.payment = outcome;
    tracked.refundIds.push(answer.body.id);
    this.#checkEntries(command, answer.body, before, outcome);
    await this.#checkPayment(tracked);
  }

  async #endRefund(command: Of<'end refund'>): Promise<void> {
    const all = this.tracked.flatMap((tracked) => tracked.refundIds.map((_id, i) => ({ tracked, i })));
    const isOpen = ({ tracked, i }: (typeof all)[number]) => tracked.payment.refunds[i]?.status === 'pending';
    const chosen = pick(command.at, all, isOpen);
    if (command.at > 1 && (!chosen || !isOpen(chosen)))
      return this.#step({ ...command, do: 'refund', ...partOfIt });
    if (!chosen) {
      const path = `developer_api_refunds/rfd_${missingSuffix}/advance`;
      return this.#refused(await this.#post(command, path, command.ask ?? {}), 'resource_not_found');
    }
    const { tracked, i } = chosen;
    const before = tracked.payment;
    const refund = before.refunds[i];
    if (!refund) throw new Error('a tracked refund is not in the model');
    const after = advanceRefund(before, i, askOf(command.ask));
    const path = `developer_api_refunds/${await this.#refundId(tracked, i)}/advance`;
    const answer = await this.#post(command, path, command.ask ?? {});
    if (isRefused(after))
      return this.#refused(answer, after.refused, {
        status: refund.status,
        open: allowedRefundActions(refund),
      });
    this.#same('the status of the refund advance', answer.status, 200);
    this.#same('the refund', shownPart(answer.body), expectedRefund(tracked.id, after, i));
    tracked.payment = after;
    this.#checkEntries(command, answer.body, before, after);
    await this.#checkPayment(tracked);
  }

  async #moveDispute(command: Of<'move dispute'>): Promise<void> {
    const all = this.tracked.flatMap((tracked) => tracked.disputeIds.map((id, i) => ({ tracked, id, i })));
    const isOpen = ({ tracked, i }: (typeof all)[number]) => {
      const status = tracked.payment.disputes[i]?.status;
      return status === 'needs_response' || status === 'under_review';
    };
    const chosen = pick(command.at, all, isOpen);
    if (command.at > 1 && (!chosen || !isOpen(chosen)))
      return this.#step({ ...command, do: 'walk', to: 'disputed', ...partOfIt });
    if (!chosen) {
      const path = `developer_api_disputes/dsp_${missingSuffix}/advance`;
      return this.#refused(await this.#post(command, path, command.ask ?? {}), 'resource_not_found');
    }
    const { tracked, id, i } = chosen;
    const before = tracked.payment;
    const dispute = before.disputes[i];
    if (!dispute) throw new Error('a tracked dispute is not in the model');
    const after = advanceDispute(before, i, askOf(command.ask));
    const answer = await this.#post(command, `developer_api_disputes/${id}/advance`, command.ask ?? {});
    if (isRefused(after))
      return this.#refused(answer, after.refused, {
        status: dispute.status,
        open: allowedDisputeActions(dispute),
      });
    this.#same('the status of the dispute advance', answer.status, 200);
    this.#same('the dispute', shownPart(answer.body), expectedDispute(tracked.id, after, i));
    tracked.payment = after;
    this.#checkEntries(command, answer.body, before, after);
    await this.#checkPayment(tracked);
  }

  async #replay(sent: Sent | undefined): Promise<void> {
    if (!sent) return;
    const { path, key, body } = sent;
    this.#log.push(`replay ${key} ${path}`);
    const answer = await this.#client(sent.app).post(path, body, key);
    this.#count('replayed');
    this.#same('a replay', [answer.status, answer.text], [sent.status, sent.text]);
    this.#same('the replay header', answer.isReplay, true);
  }

  async #reuse(sent: Sent | undefined): Promise<void> {
    if (!sent) return;
    const body = { amount: 4711, currency: 'EUR', reference: 'another request' };
    this.#log.push(`reuse ${sent.key}`);
    this.#count('idempotency_key_reused');
    this.#refused(await this.#client(sent.app).post(payments, body, sent.key), 'idempotency_key_reused');
  }

  /** Sends a request with a new key, which another application uses at about the same time for another request. */
  async #post(command: Command, path: string, body: object | undefined): Promise<Answer> {
    const { app, isTwin, expands } = command;
    const number = this.#requestCounts[app] ?? 0;
    this.#requestCounts[app] = number + 1;
    const key = `k${this.#number + app}-${number}`;
    const mayExpand = path !== payments;
    const url = expands && mayExpand ? `${path}?expand=ledgerEntries` : path;
    const send = () => this.#client(app).post(url, body, key);
    const [answer, twin] = await Promise.all(isTwin ? [send(), send()] : [send()]);
    const { status, text, code } = answer;
    this.#log.push(
      `app ${app} ${key}${isTwin ? ' twice' : ''} ${url} ${JSON.stringify(body) ?? ''} -> ${status} ${code ?? answer.body.status}`,
    );
    const isStored = status < 300 || status === 409 || status === 422;
    if (twin && isStored) {
      this.#same('concurrent responses', twin.text, text);
      const replayFlags = [answer, twin].map(({ isReplay }) => isReplay);
      this.#same('the replay headers of concurrent responses', replayFlags.sort(), [false, true]);
    }
    if (isStored) this.replayable.push({ app, path: url, body, key, status, text });
    this.#count(code ?? String(status));
    return answer;
  }

  #refused(answer: Answer, code: string, at?: RecordState): void {
    this.#same('the code', answer.code, code);
    if (code !== 'invalid_state_transition' || at === undefined) return;
    const { details, allowedActions } = answer.body.error;
    const found = { status: details?.status, open: allowedActions?.toSorted() };
    this.#same('the state in the error response', found, { status: at.status, open: at.open.toSorted() });
  }

  #checkEntries(command: Command, body: Body, before: Payment, after: Payment): void {
    if (!command.expands) {
      this.#same('ledger entries without expand', body.ledgerEntries, undefined);
      return;
    }
    const posted = postedBy(body.ledgerEntries as readonly Body[], after.currency);
    this.#same(
      'the posted entries',
      sorted(posted),
      sorted(difference(balancesOf(before), balancesOf(after))),
    );
  }

  async #checkPayment({ id, payment }: Tracked): Promise<void> {
    const { body } = await this.#client(0).get(`${payments}/${id}`);
    this.#same(`payment ${id}`, shownPayment(body), expectedPayment(payment));
  }

  /** Final check of the payment, its refunds and disputes, its history and its account balances. */
  async #checkTrail(tracked: Tracked): Promise<void> {
    const { id, payment } = tracked;
    await this.#checkPayment(tracked);
    const history = await this.#client(0).get(`${payments}/${id}/history?limit=100`);
    const shown = history.body.data.map(({ version, from, to, event }) => {
      return { version, from, to, event: (event as { type: string } | null)?.type };
    });
    const wanted = transitionsOf(payment, 'payment').map(({ from, to, event }, i) => {
      return { version: i + 1, from, to, event };
    });
    this.#same(`the history of ${id}`, shown, wanted.toReversed());
    const balances = await this.#client(0).get(`developer_api_balances?paymentId=${id}`);
    const shares = balances.body.accounts as readonly { account: string; balance: number }[];
    const found = Object.fromEntries(shares.map(({ account, balance }) => [account, BigInt(balance)]));
    const balancesWanted = payment.transitions.length === 1 ? {} : balancesOf(payment);
    this.#same(`the balances of ${id}`, sorted(nonZero(found)), sorted(nonZero(balancesWanted)));
    for (const i of tracked.refundIds.keys()) await this.#refundId(tracked, i);
  }

  /** Reads a refund id that no response has shown from the refund list of the payment. */
  async #refundId(tracked: Tracked, at: number): Promise<string> {
    if (tracked.refundIds[at] === null) {
      const listed = await this.#client(0).get(`developer_api_refunds?limit=100&paymentId=${tracked.id}`);
      const oldestFirst = listed.body.data.toReversed();
      const { payment, id } = tracked;
      this.#same(
        `the refunds of ${id}`,
        oldestFirst.map(shownPart),
        payment.refunds.map((_refund, i) => expectedRefund(id, payment, i)),
      );
      for (const [i, refund] of oldestFirst.entries()) tracked.refundIds[i] = refund.id;
    }
    return tracked.refundIds[at] ?? '';
  }

  #count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  #pick(at: number): Tracked | undefined {
    return pick(at, this.tracked, ({ payment }) => model.allowedActions(payment).length > 0);
  }

  #need(at: number): Tracked {
    const tracked = this.#pick(at);
    if (!tracked) throw new Error('a sequence must start with a payment');
    return tracked;
  }

  #application(app: number): SimulationOrganization['applications'][number] {
    const application = this.#organization.applications[app];
    if (!application) throw new Error(`there is no application ${app}`);
    return application;
  }

  #client(app: number): SimulationClient {
    return this.#application(app).client;
  }

  #same(what: string, found: unknown, wanted: unknown): void {
    if (isDeepStrictEqual(found, wanted)) return;
    throw new Error(
      `${what} differs from the model.\nfound  ${formatted(found)}\nwanted ${formatted(wanted)}`,
    );
  }
}

function stateOf(payment: Payment): RecordState {
  return { status: payment.status, open: model.allowedActions(payment) };
}
