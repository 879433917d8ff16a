import { useMutation, useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { keys, type List, useRead, useWrite } from '../../client/queries.ts';
import { type ApiProblem, post } from '../../client/request.ts';
import { useSession } from '../../frame/session.tsx';
import type { Passkey, PasskeyOptions } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { ConfirmPassword } from '../confirm-password.tsx';
import { createPasskey, hasPasskeys } from './web-authn.ts';

/** The passkeys of the person, and a dialog to add one. */
export function PasskeyCard() {
  const { data, problem, refresh } = useRead<List<Passkey>>('session/passkeys');
  const [isAdding, setAdding] = useState(false);
  const { toast } = useToast();
  const remove = useWrite('session/passkeys', { onDone: () => toast('Passkey removed') });
  const failed = problem ?? remove.problem;
  return (
    <Card
      title="Passkeys"
      description="Sign in with a fingerprint, a PIN or a security key instead of password and code."
    >
      {failed ? <ProblemBanner problem={failed} onRetry={refresh} /> : null}
      <ul aria-label="Passkeys" className="flex flex-col">
        {data?.data.map(({ id, name, createdAt }) => (
          <li key={id} className="flex items-center gap-3 border-b py-3 first:pt-0">
            <KeyRound aria-hidden size={18} className="shrink-0 text-muted" />
            <div className="min-w-0 flex-1">
              <p className="truncate font-medium">{name}</p>
              <p className="text-sm text-muted">
                Added <Time at={createdAt} kind="wall" />
              </p>
            </div>
            <Button
              size="small"
              aria-label={`Remove ${name}`}
              disabled={remove.isBusy}
              onClick={() => void remove.write({}, `session/passkeys/${id}/remove`)}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <div className="mt-3">
        {hasPasskeys ? (
          <Button onClick={() => setAdding(true)}>Add passkey…</Button>
        ) : (
          <p className="text-sm text-muted">
            Passkeys need a recent browser, and an address with a host name such as localhost.
          </p>
        )}
      </div>
      {isAdding ? <AddPasskey onClose={() => setAdding(false)} /> : null}
    </Card>
  );
}

function AddPasskey({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const { toast } = useToast();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const { limits } = useSession();
  const add = useMutation<unknown, ApiProblem, void>({
    mutationFn: async () => {
      const { options } = await post<PasskeyOptions>('session/passkeys/options', { password });
      const response = await createPasskey(options);
      await post('session/passkeys', { name: name.trim(), response });
    },
    onSuccess: () => {
      toast('Passkey added');
      onClose();
      return client.invalidateQueries({ queryKey: keys.session });
    },
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title="Add passkey"
      submitLabel="Continue"
      onSubmit={() => add.mutate()}
      isBusy={add.isPending}
      problem={add.error}
    >
      <Field
        label="Name"
        param="name"
        hint="To recognize it, for example the name of this device."
        missing={name.trim() === '' ? 'Enter a name.' : undefined}
      >
        <Input
          required
          maxLength={limits.nameLengthMax}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Field>
      <ConfirmPassword value={password} onChange={setPassword} />
    </Dialog>
  );
}
