import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useWrite } from '../client/queries.ts';
import type { ApiProblem, Path } from '../client/request.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmDialog, Dialog } from '../parts/dialog.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';

export interface SecretWrite<Answer, Body> {
  readonly write: (body: Body) => Promise<void>;
  readonly made: Answer | undefined;
  readonly isBusy: boolean;
  readonly problem: ApiProblem | null;
}

/**
 * A write whose answer carries a secret. The answer lives in the component that asked and goes with it: the cache of
 * mutations, which would hold it for minutes more, is made to forget it at once.
 */
export function useSecretWrite<Answer, Body = unknown>(path: Path): SecretWrite<Answer, Body> {
  const cache = useQueryClient().getMutationCache();
  const [made, setMade] = useState<Answer>();
  const { write, isBusy, problem } = useWrite<Answer, Body>(path, { onDone: setMade });
  return {
    write: async (body) => {
      const answer = await write(body);
      if (answer === undefined) return;
      const kept = cache.getAll().find(({ state }) => state.data === answer);
      if (kept) cache.remove(kept);
    },
    made,
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
  /** Beside the button: what is done next with the secret in hand. */
  readonly more?: ReactNode;
}

/** Shows a secret once. Its button says that the secret is kept; every other way out asks first. */
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
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Dialog
        isOpen
        onOpenChange={() => setAsking(true)}
        title={title}
        description={description}
        footer={
          <>
            {more}
            <Button look="primary" onClick={onClose}>
              I have kept the {what}
            </Button>
          </>
        }
      >
        <SecretOnce secret={secret} what={what} {...(warning === undefined ? {} : { warning })} />
        {children}
      </Dialog>
      <ConfirmDialog
        isOpen={isAsking}
        onOpenChange={setAsking}
        title={`Close without the ${what}?`}
        confirmLabel="Close"
        isDanger
        onConfirm={onClose}
      >
        Nobody can see it again. If it is not kept yet, go back and copy it.
      </ConfirmDialog>
    </>
  );
}
