import type { AnyResource } from '../kernel/command.ts';
import { eventFilters } from '../kernel/event.ts';
import type { ConsoleRoute, Route } from '../kernel/route.ts';
import { providerNames } from '../provider/index.ts';
import { apiKeyResource, apiKeyRoutes } from './api-keys/api.ts';
import { applicationResource, applicationRoutes } from './applications/api.ts';
import { auditConsoleRoutes, auditRoutes } from './audit/api.ts';
import { capabilitiesRoute } from './capabilities/api.ts';
import { stateMachinesRoute } from './capabilities/state-machine-api.ts';
import { statusRoute } from './capabilities/status-api.ts';
import { clockResource, clockRoutes } from './clocks/api.ts';
import { attentionRoutes } from './console-views/attention-api.ts';
import { countRoutes } from './console-views/counts-api.ts';
import { nameRoutes } from './console-views/names-api.ts';
import { nextActionRoutes } from './console-views/next-actions-api.ts';
import { overviewRoutes } from './console-views/overview-api.ts';
import { scheduleRoutes } from './console-views/schedule-api.ts';
import { searchRoutes } from './console-views/search-api.ts';
import { timelineRoutes } from './console-views/timeline-api.ts';
import { coverageRoutes } from './coverage/api.ts';
import { universeOf } from './coverage/commands.ts';
import { customerResource, customerRoutes } from './customers/api.ts';
import { disputeResource, disputeRoutes } from './disputes/api.ts';
import { eventRoutes } from './events/api.ts';
import { catalogueOf } from './events/catalogue.ts';
import { faultPlanResource, faultPlanRoutes } from './fault-plans/api.ts';
import { historyRoutes } from './history/api.ts';
import { providerEventRoutes } from './history/provider-event-api.ts';
import { ledgerRoutes } from './ledger/api.ts';
import { organizationResource, organizationRoutes } from './organizations/api.ts';
import { invitationResource, invitationRoutes } from './organizations/invitation-api.ts';
import { memberResource, memberRoutes } from './organizations/member-api.ts';
import { consoleResetRoute, resetRoute } from './organizations/reset-api.ts';
import { forkRoute } from './organizations/snapshot-api.ts';
import { paymentResource, paymentRoutes } from './payments/api.ts';
import { refundResource, refundRoutes } from './refunds/api.ts';
import { requestErrorRoutes, requestRoutes } from './requests/api.ts';
import { settlementRoutes } from './settlements/api.ts';
import { reconciliationRoutes } from './settlements/reconciliation-api.ts';
import { transferResource, transferRoutes } from './transfers/api.ts';
import { transferPreviewRoutes } from './transfers/preview-api.ts';
import { fxRateRoutes } from './transfers/rate-api.ts';
import { webhookResource, webhookRoutes } from './webhooks/api.ts';
import { attemptListRoutes } from './webhooks/attempt-list-api.ts';
import { deliveryRoutes } from './webhooks/delivery-api.ts';
import { examinationRoutes } from './webhooks/examination-api.ts';
import { examinationListRoutes } from './webhooks/examination-list-api.ts';
import { replayResource, replayRoutes } from './webhooks/replay-api.ts';
import { webhookStatisticsRoutes } from './webhooks/statistics-api.ts';
import { webhookTestRoutes } from './webhooks/test-event-api.ts';

/** The one list of resources. */
export const resources: readonly AnyResource[] = [
  organizationResource,
  applicationResource,
  apiKeyResource,
  memberResource,
  invitationResource,
  clockResource,
  webhookResource,
  replayResource,
  faultPlanResource,
  customerResource,
  paymentResource,
  refundResource,
  disputeResource,
  transferResource,
];

/** Every event type that webhooks can receive. */
export const eventCatalogue = catalogueOf(resources);

const eventTypes = eventCatalogue.map(({ type }) => type);
const filters = eventFilters(eventTypes);

const plainRoutes: readonly Route[] = [
  statusRoute,
  capabilitiesRoute(resources, eventCatalogue, () => routes),
  stateMachinesRoute(resources),
  ...paymentRoutes,
  ...historyRoutes,
  ...providerEventRoutes,
  ...refundRoutes,
  ...disputeRoutes,
  ...transferRoutes,
  ...fxRateRoutes,
  ...ledgerRoutes,
  ...settlementRoutes,
  ...reconciliationRoutes,
  ...customerRoutes,
  ...clockRoutes,
  ...webhookRoutes(eventTypes),
  ...webhookTestRoutes(eventCatalogue),
  ...examinationRoutes(eventCatalogue),
  ...eventRoutes(eventCatalogue, filters),
  ...deliveryRoutes,
  ...replayRoutes,
  ...requestRoutes,
  ...auditRoutes,
  ...coverageRoutes([...new Set(eventCatalogue.map(({ resource }) => resource))], () => coverageUniverse),
  resetRoute,
];

/**
 * The one table of routes: authentication, scopes, validation, documents and the permission matrix all read it. Fault plans
 * are last because they reference the other routes.
 */
export const routes: readonly Route[] = [...plainRoutes, ...faultPlanRoutes(plainRoutes, filters)];

/** Everything that tests can cover. */
export const coverageUniverse = universeOf(resources, eventCatalogue, routes);

/** Routes of the console only: for people, each with the role that it requires. */
export const consoleRoutes: readonly ConsoleRoute[] = [
  ...organizationRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...applicationRoutes(providerNames, filters),
  ...apiKeyRoutes,
  ...requestErrorRoutes,
  ...auditConsoleRoutes,
  ...overviewRoutes,
  ...attentionRoutes,
  ...timelineRoutes,
  ...scheduleRoutes,
  ...searchRoutes,
  ...countRoutes,
  ...nameRoutes,
  ...nextActionRoutes,
  ...transferPreviewRoutes,
  ...webhookStatisticsRoutes,
  ...attemptListRoutes,
  ...examinationListRoutes,
  consoleResetRoute,
  forkRoute,
];
