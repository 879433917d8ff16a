import type { Static, TSchema } from 'typebox';
import type { CommandKind, PreparedCommand } from './command.ts';
import { type Id, type IdKind, idFrom } from './ids.ts';
import type { Prepare } from './prepare.ts';
import type {
  ApiRouteMeta,
  ApiWriteRoute,
  ConsoleRoute,
  ConsoleRouteMeta,
  WriteRequest,
  WriteRoute,
} from './route.ts';

type Shape<Body extends TSchema> = Omit<WriteRoute, 'body' | 'command' | 'input' | 'prepare'> & {
  /** `input` gets the body with the type of this schema. */
  readonly body?: Body;
};

/** A write whose command needs only the client's request. */
interface Plain<Body extends TSchema, Input, Result> extends Shape<Body> {
  readonly command: CommandKind<Input, Result> & { readonly needsPrepare?: never };
  readonly input: (request: WriteRequest<Static<Body>>) => NoInfer<Input>;
  readonly prepare?: never;
}

/** A write whose command needs a prepare step: `input` returns the client's request, and the step builds the input from it. */
interface Prepared<Body extends TSchema, Requested, Input, Result> extends Shape<Body> {
  readonly command: PreparedCommand<Input, Result>;
  readonly input: (request: WriteRequest<Static<Body>>) => Requested;
  readonly prepare: Prepare<Requested, Input, Result>;
}

/**
 * A write of the API. The body has the type of its schema, `input` must return the input of the command, and a command that needs
 * a prepare step is accepted only with it. The route table itself does not have the types of individual routes.
 */
export function writeRoute<Body extends TSchema, Requested, Input, Result>(
  route: ApiRouteMeta & Prepared<Body, Requested, Input, Result>,
): ApiWriteRoute;
export function writeRoute<Body extends TSchema, Input, Result>(
  route: ApiRouteMeta & Plain<Body, Input, Result>,
): ApiWriteRoute;
export function writeRoute(route: ApiWriteRoute): ApiWriteRoute {
  return route;
}

/** The same for a write that only the console has. */
export function consoleWriteRoute<Body extends TSchema, Requested, Input, Result>(
  route: ConsoleRouteMeta & Prepared<Body, Requested, Input, Result>,
): ConsoleRoute;
export function consoleWriteRoute<Body extends TSchema, Input, Result>(
  route: ConsoleRouteMeta & Plain<Body, Input, Result>,
): ConsoleRoute;
export function consoleWriteRoute(route: ConsoleRoute): ConsoleRoute {
  return route;
}

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
