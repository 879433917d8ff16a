import { createContext, useContext } from 'react';
import { noScope, type Scope } from './request.ts';

/** The organization and application of the page; the layout provides it, the hooks of queries.ts read it. */
export const ScopeContext = createContext<Scope>(noScope);

export function useScope(): Scope {
  return useContext(ScopeContext);
}
