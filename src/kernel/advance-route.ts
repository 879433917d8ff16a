import type { Static, TSchema } from 'typebox';
import type { CommandKind } from './command.ts';
import { type Id, type IdKind, idFrom } from './ids.ts';
import type { ApiRouteMeta, ApiWriteRoute } from './route.ts';
import { writeRoute } from './write-route.ts';

interface AdvanceRoute<Body extends TSchema, Kind extends IdKind, Request> extends ApiRouteMeta {
  readonly body: Body;
  readonly bodyName: string;
  /** The resource kind of the id in the path. */
  readonly target: Kind;
  readonly command: CommandKind<{ readonly id: Id<Kind>; readonly request: Request }>;
  /** Converts the body to a request: the next step, an action, or a target state. */
  readonly request: (body: Static<Body>) => NoInfer<Request>;
}

/** `POST .../{id}/advance` of any resource: the body is optional, and `expand` shows the ledger entries. */
export function advanceRoute<Body extends TSchema, Kind extends IdKind, Request>({
  request,
  ...route
}: AdvanceRoute<Body, Kind, Request>): ApiWriteRoute {
  return writeRoute({
    ...route,
    method: 'POST',
    isBodyOptional: true,
    expandsEntries: true,
    input: ({ params, body }) => ({ id: idFrom(route.target, params.id), request: request(body) }),
  });
}
