import { createContext, useContext } from 'react';
import { noScope, type Scope } from './request.ts';

/** The page's organization and application; the layout provides it, the hooks in queries.ts read it. */
export const ScopeContext = createContext<Scope>(noScope);

export function useScope(): Scope {
  return useContext(ScopeContext);
}
