import { Code } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import type { ApiRequest } from '../client/request.ts';
import { SamplesPanel } from '../code/samples-panel.tsx';
import { Button } from './button.tsx';

export interface CodeToggle {
  readonly button: ReactNode;
  readonly panel: ReactNode;
}

/**
 * A button and the panel that it opens: the code of the request that a form will send. `null` is a request that is not
 * complete yet; `undefined` is a form without an API operation, which has no button. The note says how the form differs from the code.
 */
export function useCodeToggle(
  request: ApiRequest | null | undefined,
  title: string,
  note?: string,
): CodeToggle {
  const [isOpen, setOpen] = useState(false);
  const panelId = useId();
  if (request === undefined) return { button: null, panel: null };
  return {
    button: (
      <Button
        variant="ghost"
        icon={<Code aria-hidden size={15} />}
        aria-expanded={isOpen}
        aria-controls={isOpen ? panelId : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        Code
      </Button>
    ),
    panel: isOpen ? (
      <div id={panelId} className="flex min-w-0 flex-col gap-2">
        {note === undefined ? null : <p className="text-sm text-muted">{note}</p>}
        {request === null ? (
          <p className="flex h-9 items-center text-sm text-muted">
            Fill in the required fields to see the request.
          </p>
        ) : (
          <SamplesPanel request={request} title={title} />
        )}
      </div>
    ) : null,
  };
}
