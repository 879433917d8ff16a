import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import { loadModule } from '../client/load-module.ts';

type Loader<Props> = () => Promise<{ readonly default: ComponentType<Props> }>;

const reason = 'A part of this page could not be loaded. If the server was updated, reload the page.';

/** A part of a page that is loaded when it is shown for the first time. Needs a `Suspense` around it. */
export function lazyPart<Props>(load: Loader<Props>): LazyExoticComponent<ComponentType<Props>> {
  const explain = (cause: unknown) => {
    throw new Error(reason, { cause });
  };
  return lazy(() => loadModule(() => load().catch(explain)));
}
