import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Select } from '../parts/field.tsx';
import type { NamedRequest } from './named-request.ts';
import { Runner } from './runner.tsx';

export type { NamedRequest };

export interface RequestsDialogProps {
  /** What the requests are about: 'Payment'. */
  readonly title: string;
  readonly requests: readonly NamedRequest[];
  /** The label of the request to show first. */
  readonly first?: string;
  readonly onClose: () => void;
}

/** The requests about something, one at a time. */
export default function RequestsDialog({ title, requests, first, onClose }: RequestsDialogProps) {
  const [chosen, setChosen] = useState(() => requests.find(({ label }) => label === first) ?? requests[0]);
  if (chosen === undefined) return null;
  // An action that was just run may no longer be allowed; its response stays until another request is chosen.
  const isListed = requests.some(({ label }) => label === chosen.label);
  const options = isListed ? requests : [chosen, ...requests];
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title={`${title} in code`}
      description="Run sends the request with your session. Your own code uses an API key."
    >
      <Field label="Request" param={null}>
        <Select
          value={chosen.label}
          options={options.map(({ label }) => label)}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setChosen(options.find(({ label }) => label === value));
          }}
        />
      </Field>
      <Runner key={chosen.label} title={chosen.label} request={chosen.request} />
    </Dialog>
  );
}
