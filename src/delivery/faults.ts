import type { FaultCounter } from '../engine/fault-counter.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { type ActivePlan, isForEvent, type WebhookFault } from '../resources/fault-plans/table.ts';
import { appTime } from './attempt.ts';
import type { ClaimedDelivery } from './queue.ts';

export interface DeliveryFaultsSettings {
  readonly faults: FaultCounter;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
}

/** A claim that this process sends now, and the end of its lease. */
export interface Sendable {
  readonly claim: ClaimedDelivery;
  readonly leaseUntil: Instant;
}

/** A claim after fault plans were applied; it has no lease when the plan released it. */
interface FaultOutcome {
  readonly claim: ClaimedDelivery;
  readonly leaseUntil: Instant | null;
}

type Plan = ActivePlan<WebhookFault>;

/** Only a first attempt triggered by an event: replays and test events are explicit requests. */
function isEligible({ trigger, attempts, faultPlanId }: ClaimedDelivery): boolean {
  return trigger === 'event' && attempts === 0 && faultPlanId === null;
}

/** The first attempt for an event. It can overtake a delivery that a plan holds back. */
function isFirst({ trigger, attempts }: ClaimedDelivery): boolean {
  return trigger === 'event' && attempts === 0;
}

/**
 * Applies the fault plans of the applications to the claims, in order, and returns the claims to send now. A delayed or held
 * delivery is released: it is claimed again when it is due, and is then sent like any other.
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
  const outcomes = await Promise.all(
    [...byEndpoint.values()].map((endpointClaims) =>
      injectIntoEndpoint(endpointClaims, leaseUntil, settings),
    ),
  );
  return outcomes
    .flat()
    .flatMap(({ claim, leaseUntil: until }) => (until === null ? [] : [{ claim, leaseUntil: until }]));
}

/** A plan holds the delivery back so that another one overtakes it, and it was not sent yet. */
function isHeld(claim: ClaimedDelivery): boolean {
  return isFirst(claim) && claim.fault?.type === 'reorder';
}

/**
 * A reorder plan is applied to one delivery after the other: a delivery that overtakes a held one is not held itself, so that
 * neighbours swap places. The held delivery is placed directly behind the one that overtakes it, and nothing else is sent to the
 * endpoint in between (`isReordered`), so the receiver sees this order. A delivery that nothing overtakes is held in the
 * database, and the next claim returns it together with one that does.
 */
async function injectIntoEndpoint(
  claims: readonly ClaimedDelivery[],
  leaseUntil: Instant,
  settings: DeliveryFaultsSettings,
): Promise<readonly FaultOutcome[]> {
  const plans = claims[0]?.faultPlans ?? [];
  if (!plans.some(({ fault }) => fault.type === 'reorder') && !claims.some(isHeld))
    return applyPlans(claims, plans, leaseUntil, settings);
  const outcomes: FaultOutcome[] = [];
  let held: FaultOutcome[] = [];
  for (const claim of claims) {
    if (isHeld(claim)) {
      held.push({ claim, leaseUntil });
      continue;
    }
    const applicable = held.length > 0 ? plans.filter(({ fault }) => fault.type !== 'reorder') : plans;
    const [outcome] = await applyPlans([claim], applicable, leaseUntil, settings);
    if (!outcome) continue;
    if (isHeld(outcome.claim)) held.push(outcome);
    else if (
      held.length > 0 &&
      outcome.leaseUntil !== null &&
      isFirst(claim) &&
      outcome.claim.fault?.type !== 'drop'
    ) {
      const reordered = [outcome, ...held];
      outcomes.push(
        ...reordered.map((entry) => ({ ...entry, claim: { ...entry.claim, isReordered: true } })),
      );
      held = [];
    } else outcomes.push(outcome);
  }
  for (const delivery of held) outcomes.push(await holdUntilOvertaken(delivery, settings));
  return outcomes;
}

/** Holds a delivery that no other claim overtakes, unless its hold has expired or a clock is being advanced. */
async function holdUntilOvertaken(
  { claim, leaseUntil }: FaultOutcome,
  { faults, wallClock, onError }: DeliveryFaultsSettings,
): Promise<FaultOutcome> {
  const now = wallClock();
  const { heldUntil, advanceRequestId } = claim;
  const isHoldOver = heldUntil !== null && (heldUntil <= now || advanceRequestId !== null);
  if (isHoldOver) return { claim, leaseUntil };
  try {
    await faults.hold(claim, heldUntil ?? now + limits.faultHoldMsMax);
    return { claim, leaseUntil: null };
  } catch (error) {
    onError(error, `failed to hold ${claim.id}`);
    return { claim, leaseUntil };
  }
}

/** The oldest plan that hits a delivery wins. The next plan gets the deliveries that were not hit. */
async function applyPlans(
  claims: readonly ClaimedDelivery[],
  plans: readonly Plan[],
  leaseUntil: Instant,
  settings: DeliveryFaultsSettings,
): Promise<readonly FaultOutcome[]> {
  const outcomes = new Map<string, FaultOutcome>(claims.map((claim) => [claim.id, { claim, leaseUntil }]));
  let eligible = claims.filter(isEligible);
  for (const plan of plans) {
    const matching = eligible.filter(({ type }) => isForEvent(plan, type));
    if (matching.length === 0) continue;
    const { hits, until } = await takeHits(plan, matching, leaseUntil, settings);
    for (const claim of matching.filter(({ id }) => hits.has(id))) {
      const hit: ClaimedDelivery = { ...claim, faultPlanId: plan.id, fault: plan.fault };
      outcomes.set(claim.id, { claim: hit, leaseUntil: until });
    }
    eligible = eligible.filter(({ id }) => !hits.has(id));
  }
  return [...outcomes.values()];
}

async function takeHits(
  plan: Plan,
  claims: readonly ClaimedDelivery[],
  leaseUntil: Instant,
  { faults, wallClock, onError }: DeliveryFaultsSettings,
): Promise<{ readonly hits: ReadonlySet<string>; readonly until: Instant | null }> {
  const { fault } = plan;
  const now = wallClock();
  const delayMs = fault.type === 'delay' ? fault.seconds * 1_000 : null;
  const deliveries = claims.map((claim) => ({
    claim,
    dueAt: delayMs === null ? null : appTime(claim, now) + delayMs,
  }));
  // Each copy may take as long as an attempt.
  const copiesMs = fault.type === 'duplicate' ? fault.copies * limits.webhookTimeoutMs : 0;
  const until = fault.type === 'delay' ? null : leaseUntil + copiesMs;
  try {
    return { hits: await faults.takeDeliveries(plan, deliveries, until), until };
  } catch (error) {
    // Delivering the event matters more than the fault: send it as if there were no plan.
    onError(error, `failed to count matches of fault plan ${plan.id}`);
    return { hits: new Set(), until };
  }
}
