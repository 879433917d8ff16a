import type { FaultCounter } from '../engine/fault-counter.ts';
import { type ActivePlan, isForEvent, type WebhookFault } from '../kernel/fault.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { appTime } from './attempt.ts';
import type { ClaimedDelivery } from './queue.ts';

export interface DeliveryFaultsSettings {
  readonly faults: FaultCounter;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
}

/** A claim that is sent now, and until when it is this process's. */
export interface Sendable {
  readonly claim: ClaimedDelivery;
  readonly leaseUntil: Instant;
}

/** A claim that plans have looked at; it has no lease when it was let go of. */
interface Struck {
  readonly claim: ClaimedDelivery;
  readonly leaseUntil: Instant | null;
}

type Plan = ActivePlan<WebhookFault>;

/** Only what an event brought about can be hit, and only before its first attempt: a replay and a test are asked for. */
function isStrikable({ trigger, attempts, faultPlanId }: ClaimedDelivery): boolean {
  return trigger === 'event' && attempts === 0 && faultPlanId === null;
}

/** A first attempt for an event: it overtakes the delivery that a plan holds for it. */
function isFirst({ trigger, attempts }: ClaimedDelivery): boolean {
  return trigger === 'event' && attempts === 0;
}

/**
 * Lets the plans of applications hit what was claimed, in order, and gives back what is left to be sent now. What is delayed or
 * held is let go of: it is claimed again when its time has come, and is sent then like any other.
 */
export async function injectFaults(
  claims: readonly ClaimedDelivery[],
  leaseUntil: Instant,
  settings: DeliveryFaultsSettings,
): Promise<readonly Sendable[]> {
  if (!claims.some((claim) => claim.faultPlans !== null || isHeld(claim)))
    return claims.map((claim) => ({ claim, leaseUntil }));
  const byEndpoint = new Map<string, ClaimedDelivery[]>();
  for (const claim of claims)
    byEndpoint.set(claim.webhookId, [...(byEndpoint.get(claim.webhookId) ?? []), claim]);
  const struck = await Promise.all(
    [...byEndpoint.values()].map((own) => injectIntoEndpoint(own, leaseUntil, settings)),
  );
  return struck
    .flat()
    .flatMap(({ claim, leaseUntil: until }) => (until === null ? [] : [{ claim, leaseUntil: until }]));
}

/** A plan has chosen it to be overtaken, and it was not sent yet. */
function isHeld(claim: ClaimedDelivery): boolean {
  return isFirst(claim) && claim.fault?.type === 'reorder';
}

/**
 * With a plan that reorders, one after the other: a delivery that overtakes a held one is not held itself, so that neighbours change
 * places. The held one is placed directly behind the one that overtakes it, and the endpoint gets nothing else meanwhile
 * (`isReordered`), so the order at the receiver is the order here. What is left without one that overtakes it is held in the
 * database, and the next claim returns it together with one.
 */
async function injectIntoEndpoint(
  claims: readonly ClaimedDelivery[],
  leaseUntil: Instant,
  settings: DeliveryFaultsSettings,
): Promise<readonly Struck[]> {
  const plans = claims[0]?.faultPlans ?? [];
  if (!plans.some(({ fault }) => fault.type === 'reorder') && !claims.some(isHeld))
    return injectIntoSome(claims, plans, leaseUntil, settings);
  const all: Struck[] = [];
  let held: Struck[] = [];
  for (const claim of claims) {
    if (isHeld(claim)) {
      held.push({ claim, leaseUntil });
      continue;
    }
    const open = held.length > 0 ? plans.filter(({ fault }) => fault.type !== 'reorder') : plans;
    const [struck] = await injectIntoSome([claim], open, leaseUntil, settings);
    if (!struck) continue;
    if (isHeld(struck.claim)) held.push(struck);
    else if (
      held.length > 0 &&
      struck.leaseUntil !== null &&
      isFirst(claim) &&
      struck.claim.fault?.type !== 'drop'
    ) {
      const reordered = [struck, ...held];
      all.push(...reordered.map((one) => ({ ...one, claim: { ...one.claim, isReordered: true } })));
      held = [];
    } else all.push(struck);
  }
  for (const one of held) all.push(await heldAlone(one, settings));
  return all;
}

/** A delivery that was claimed without one to overtake it is held, unless its time is up or a clock is being advanced. */
async function heldAlone(
  { claim, leaseUntil }: Struck,
  { faults, wallClock, onError }: DeliveryFaultsSettings,
): Promise<Struck> {
  const now = wallClock();
  const { heldUntil, advanceRequestId } = claim;
  const isOver = heldUntil !== null && (heldUntil <= now || advanceRequestId !== null);
  if (isOver) return { claim, leaseUntil };
  try {
    await faults.hold(claim, heldUntil ?? now + limits.faultHoldMsMax);
    return { claim, leaseUntil: null };
  } catch (error) {
    onError(error, `${claim.id} was not held`);
    return { claim, leaseUntil };
  }
}

/** The oldest plan that hits a delivery wins; those that it does not hit are left to the next. */
async function injectIntoSome(
  claims: readonly ClaimedDelivery[],
  plans: readonly Plan[],
  leaseUntil: Instant,
  settings: DeliveryFaultsSettings,
): Promise<readonly Struck[]> {
  const struck = new Map<string, Struck>(claims.map((claim) => [claim.id, { claim, leaseUntil }]));
  let open = claims.filter(isStrikable);
  for (const plan of plans) {
    const matching = open.filter(({ type }) => isForEvent(plan, type));
    if (matching.length === 0) continue;
    const { hits, until } = await take(plan, matching, leaseUntil, settings);
    for (const claim of matching.filter(({ id }) => hits.has(id))) {
      const hit: ClaimedDelivery = { ...claim, faultPlanId: plan.id, fault: plan.fault };
      struck.set(claim.id, { claim: hit, leaseUntil: until });
    }
    open = open.filter(({ id }) => !hits.has(id));
  }
  return [...struck.values()];
}

async function take(
  plan: Plan,
  claims: readonly ClaimedDelivery[],
  leaseUntil: Instant,
  { faults, wallClock, onError }: DeliveryFaultsSettings,
): Promise<{ readonly hits: ReadonlySet<string>; readonly until: Instant | null }> {
  const { fault } = plan;
  const now = wallClock();
  const delayMs = fault.type === 'delay' ? fault.seconds * 1_000 : null;
  const some = claims.map((claim) => ({
    claim,
    dueAt: delayMs === null ? null : appTime(claim, now) + delayMs,
  }));
  const isLetGo = fault.type === 'delay';
  // Every copy may take as long as an attempt.
  const copiesMs = fault.type === 'duplicate' ? fault.copies * limits.webhookTimeoutMs : 0;
  const until = isLetGo ? null : leaseUntil + copiesMs;
  try {
    return { hits: await faults.takeDeliveries(plan, some, until), until };
  } catch (error) {
    // An event is worth more than a fault: it goes out as if there were no plan.
    onError(error, `${plan.id} was not counted`);
    return { hits: new Set(), until };
  }
}
