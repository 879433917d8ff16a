import { useEffect, useId, useRef, useSyncExternalStore } from 'react';

export interface PageCommand {
  readonly label: string;
  readonly run: () => void;
}

/** What the open page offers to the palette, by component. */
const offers = new Map<string, readonly PageCommand[]>();
const listeners = new Set<() => void>();
let all: readonly PageCommand[] = [];

function publish(): void {
  all = [...offers.values()].flat();
  for (const listener of listeners) listener();
}

/** Offers commands in the palette while the component is shown. */
export function usePageCommands(commands: readonly PageCommand[]): void {
  const id = useId();
  const latest = useRef(commands);
  latest.current = commands;
  const labels = commands.map(({ label }) => label).join('\n');
  useEffect(() => {
    if (labels === '') return;
    offers.set(
      id,
      labels.split('\n').map((label) => ({
        label,
        run: () => latest.current.find((one) => one.label === label)?.run(),
      })),
    );
    publish();
    return () => {
      offers.delete(id);
      publish();
    };
  }, [id, labels]);
}

/** The commands of the open page; of two with the same label the first. */
export function useOfferedCommands(): readonly PageCommand[] {
  const offered = useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => all,
  );
  return offered.filter(({ label }, index) => offered.findIndex((one) => one.label === label) === index);
}
