import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { IconButton } from './button.tsx';
import { Prose } from './prose.tsx';

interface Toast {
  readonly id: number;
  readonly message: string;
  readonly isBad: boolean;
}

interface Toaster {
  /** `toast('Payment captured')`. */
  readonly toast: (message: string, options?: { readonly isBad?: boolean }) => void;
}

const ToastContext = createContext<Toaster>({ toast: () => undefined });
const shownMs = 5_000;
const toastsMax = 4;
let nextId = 1;

export function useToast(): Toaster {
  return useContext(ToastContext);
}

/** Short notifications in a corner, announced politely. Use a banner if the person has to act. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((one) => one.id !== id)), []);
  const toaster = useMemo<Toaster>(
    () => ({
      toast: (message, options) => {
        const id = nextId++;
        setToasts((all) => [...all.slice(1 - toastsMax), { id, message, isBad: options?.isBad ?? false }]);
        setTimeout(() => drop(id), shownMs);
      },
    }),
    [drop],
  );
  return (
    <ToastContext value={toaster}>
      {children}
      <div
        aria-live="polite"
        className="pointer-events-none fixed inset-x-4 bottom-4 z-[60] flex flex-col items-end gap-2"
      >
        {toasts.map(({ id, message, isBad }) => (
          <div
            key={id}
            className="pop-in pointer-events-auto flex max-w-sm items-center gap-2.5 rounded-lg border bg-raised py-2 pr-2 pl-3.5 shadow-pop"
          >
            {isBad ? (
              <CircleAlert aria-hidden size={17} className="shrink-0 text-bad" />
            ) : (
              <CircleCheck aria-hidden size={17} className="shrink-0 text-good" />
            )}
            <p className="min-w-0 flex-1 break-words">
              <Prose text={message} />
            </p>
            <IconButton
              label="Dismiss"
              size="small"
              icon={<X aria-hidden size={14} />}
              onClick={() => drop(id)}
            />
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
