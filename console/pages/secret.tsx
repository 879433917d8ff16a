import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useWrite } from '../client/queries.ts';
import type { ApiProblem, Path } from '../client/request.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog, Dialog } from '../parts/dialog.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';

export interface SecretWrite<Result, Body> {
  readonly write: (body: Body) => Promise<void>;
  readonly response: Result | undefined;
  readonly isBusy: boolean;
  readonly problem: ApiProblem | null;
}

/**
 * A write whose response contains a secret. Only the component's state holds it: the mutation cache, which would
 * retain it for minutes, drops it immediately.
 */
export function useSecretWrite<Result, Body = unknown>(path: Path): SecretWrite<Result, Body> {
  const cache = useQueryClient().getMutationCache();
  const [response, setResponse] = useState<Result>();
  const { write, isBusy, problem } = useWrite<Result, Body>(path, { onDone: setResponse });
  return {
    write: async (body) => {
      const result = await write(body);
      if (result === undefined) return;
      const mutation = cache.getAll().find(({ state }) => state.data === result);
      if (mutation) cache.remove(mutation);
    },
    response,
    isBusy,
    problem,
  };
}

export interface SecretDialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** 'API key', 'reset link'. */
  readonly what: string;
  readonly secret: string;
  readonly warning?: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
  /** Next to the close button: the next step with the secret. */
  readonly more?: ReactNode;
}

/** Shows a secret once. Its button confirms that the secret is saved; closing it any other way asks for confirmation. */
export function SecretDialog({
  title,
  description,
  what,
  secret,
  warning,
  onClose,
  children,
  more,
}: SecretDialogProps) {
  const [isConfirming, setConfirming] = useState(false);
  return (
    <>
      <Dialog
        isOpen
        onOpenChange={() => setConfirming(true)}
        title={title}
        description={description}
        footer={
          <>
            {more}
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </>
        }
      >
        <SecretOnce secret={secret} what={what} {...(warning === undefined ? {} : { warning })} />
        {children}
      </Dialog>
      <ConfirmDialog
        isOpen={isConfirming}
        onOpenChange={setConfirming}
        title={`Close without the ${what}?`}
        confirmLabel="Close"
        isDanger
        onConfirm={onClose}
      >
        It cannot be shown again. If you have not saved it, go back and copy it.
      </ConfirmDialog>
    </>
  );
}
