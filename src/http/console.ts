import type { FastifyInstance } from 'fastify';
import type { People } from '../identity/people.ts';
import type { ConsoleRoute } from '../kernel/route.ts';
import { addConsolePages } from './console-pages.ts';
import { addConsoleReveal, type RevealSettings } from './console-reveal.ts';
import { addConsoleRoutes } from './console-routes.ts';
import { addSessionRoutes } from './console-session.ts';
import { addConsoleSnapshots, type SnapshotActions } from './console-snapshots.ts';
import { addConsoleStream } from './console-stream.ts';
import type { Serving } from './serve.ts';
import type { HttpSettings } from './settings.ts';

/** The dependencies of the console in addition to those of the API. */
export interface Console extends SnapshotActions {
  readonly people: People;
  readonly routes: readonly ConsoleRoute[];
  /** The directory of the built pages. */
  readonly directory: URL;
  /** Whether anybody may sign up, or only people with an invitation. */
  readonly isOpen: boolean;
  readonly hashOfToken: (token: string) => Uint8Array;
  readonly openWebhookSecret: RevealSettings['openSecret'];
}

export function addConsole(
  app: FastifyInstance,
  settings: HttpSettings,
  console: Console,
  serving: Serving,
): void {
  const { engine, reader, publicUrl, wallClock, rateLimiter, uptime } = settings;
  const limitPerson = (personId: string) => rateLimiter?.take(personId, uptime());
  const { people, routes: consoleRoutes } = console;
  const admission = { people, reader, publicUrl, limitPerson };
  addConsolePages(app, console.directory);
  addSessionRoutes(app, { ...console, engine, reader, publicUrl, wallClock, uptime, limitPerson });
  const watch = engine.watch.bind(engine);
  addConsoleStream(app, { ...admission, streams: settings.streams, watch });
  addConsoleSnapshots(app, { ...admission, engine, wallClock }, console);
  addConsoleReveal(app, { ...admission, engine, wallClock, openSecret: console.openWebhookSecret });
  addConsoleRoutes(app, { ...admission, routes: settings.routes, consoleRoutes }, serving);
}
