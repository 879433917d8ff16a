import { createContext, useContext } from 'react';

/** Whether the person has paused the pages: then nothing is read by itself. */
export const PausedContext = createContext(false);

export function usePaused(): boolean {
  return useContext(PausedContext);
}
