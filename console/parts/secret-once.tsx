import { TriangleAlert } from 'lucide-react';
import { CopyButton } from './copy-button.tsx';

export interface SecretOnceProps {
  readonly secret: string;
  /** 'API key', 'signing secret', 'invitation link'. */
  readonly what: string;
  /** Replaces 'This is the only time ...'. */
  readonly warning?: string;
}

/** A secret that the server returns once. Only the page's memory holds it, until the dialog closes. */
export function SecretOnce({ secret, what, warning }: SecretOnceProps) {
  return (
    <div className="flex flex-col gap-2">
      <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
        <TriangleAlert aria-hidden size={16} className="mt-0.5 shrink-0" />
        {warning ?? `This is the only time the ${what} is shown. Copy it now and store it safely.`}
      </p>
      <div className="flex items-start gap-2 rounded-md border bg-sunken p-2 pl-3">
        <code data-secret className="min-w-0 flex-1 py-0.5 font-mono text-sm break-all whitespace-pre-wrap">
          {secret}
        </code>
        <CopyButton text={secret} what={what} isWide />
      </div>
    </div>
  );
}
