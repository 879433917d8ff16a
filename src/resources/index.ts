import type { AnyResource } from '../kernel/command.ts';
import type { Route } from '../kernel/route.ts';
import { apiKeyResource } from './api-keys/api.ts';
import { statusRoute } from './api-status/api.ts';
import { applicationResource } from './applications/api.ts';
import { capabilitiesRoute } from './capabilities/api.ts';
import { customerResource, customerRoutes } from './customers/api.ts';
import { organizationResource } from './organizations/api.ts';
import { paymentResource, paymentRoutes } from './payments/api.ts';

/** The one list of resources. */
export const resources: readonly AnyResource[] = [
  organizationResource,
  applicationResource,
  apiKeyResource,
  customerResource,
  paymentResource,
];

/** The one table of routes: authentication, scopes, validation, documents and the permission matrix all read it. */
export const routes: readonly Route[] = [
  statusRoute,
  capabilitiesRoute(resources),
  ...paymentRoutes,
  ...customerRoutes,
];
