import { useState } from 'react';
import { useWrite } from '../../client/queries.ts';
import { usePerson } from '../../frame/session.tsx';
import type { Session, TwoFactor } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useToast } from '../../parts/toast.tsx';
import { ConfirmPassword } from '../confirm-password.tsx';
import { useSecretWrite } from '../secret.tsx';
import { BackupCodeList, NewBackupCodes } from './backup-codes.tsx';
import { QrCode } from './qr-code.tsx';

/** To turn it on: password, then QR code and backup codes, then a first code. To turn it off: password. */
export function TwoFactorCard() {
  const { twoFactor } = usePerson();
  const [isOpen, setOpen] = useState(false);
  const [isRegenerating, setRegenerating] = useState(false);
  return (
    <Card
      title={
        <span className="flex items-center gap-2.5">
          Two-factor sign-in
          <StatusBadge
            status={twoFactor ? 'enabled' : 'off'}
            tone={twoFactor ? 'good' : 'quiet'}
            label={twoFactor ? 'On' : 'Off'}
          />
        </span>
      }
      description="A code from an authenticator app as the second step of signing in."
    >
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => setOpen(true)}>{twoFactor ? 'Turn off…' : 'Turn on…'}</Button>
        {twoFactor ? <Button onClick={() => setRegenerating(true)}>New backup codes…</Button> : null}
      </div>
      {isRegenerating ? <NewBackupCodes onClose={() => setRegenerating(false)} /> : null}
      {isOpen && twoFactor ? <TurnOff onClose={() => setOpen(false)} /> : null}
      {isOpen && !twoFactor ? <TurnOn onClose={() => setOpen(false)} /> : null}
    </Card>
  );
}

function TurnOff({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const [password, setPassword] = useState('');
  const disable = useWrite('session/two_factor/disable', {
    onDone: () => {
      toast('Two-factor sign-in is off');
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title="Turn off two-factor sign-in"
      description="Your password alone will be enough to sign in."
      submitLabel="Turn off"
      onSubmit={() => void disable.write({ password })}
      isBusy={disable.isBusy}
      problem={disable.problem}
    >
      <ConfirmPassword value={password} onChange={setPassword} />
    </Dialog>
  );
}

function TurnOn({ onClose }: { readonly onClose: () => void }) {
  const { toast } = useToast();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const enable = useSecretWrite<TwoFactor>('session/two_factor/enable');
  const confirm = useWrite<Session>('session/two_factor/confirm', {
    onDone: () => {
      toast('Two-factor sign-in is on');
      onClose();
    },
  });
  const pending = enable.response;
  const isWrong = confirm.problem?.code === 'two_factor_failed';
  if (pending === undefined) {
    return (
      <Dialog
        isOpen
        onOpenChange={onClose}
        size="small"
        title="Turn on two-factor sign-in"
        submitLabel="Continue"
        onSubmit={() => void enable.write({ password })}
        isBusy={enable.isBusy}
        problem={enable.problem}
      >
        <ConfirmPassword value={password} onChange={setPassword} />
      </Dialog>
    );
  }
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Turn on two-factor sign-in"
      description="Scan the QR code with an authenticator app, store the backup codes, then enter a code."
      submitLabel="Turn on"
      onSubmit={() => void confirm.write({ code: code.replaceAll(' ', '') })}
      isBusy={confirm.isBusy}
      problem={isWrong ? null : confirm.problem}
    >
      <Setup pending={pending} />
      <Field
        label="Code from the app"
        param="code"
        missing={code.trim() === '' ? 'Enter the code that the app shows.' : undefined}
        error={isWrong ? 'This code is wrong or too old. Enter the code that the app shows now.' : undefined}
      >
        <Input
          isMono
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={7}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      </Field>
    </Dialog>
  );
}

function Setup({ pending }: { readonly pending: TwoFactor }) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-4">
        <QrCode text={pending.uri} label="QR code for the authenticator app" />
        <div className="min-w-0 flex-1 basis-40">
          <p className="text-sm text-muted">Or enter this secret manually:</p>
          <p className="flex items-start gap-1">
            <code data-secret className="font-mono text-sm break-all">
              {pending.secret}
            </code>
            <CopyButton text={pending.secret} what="secret" />
          </p>
        </div>
      </div>
      <BackupCodeList codes={pending.backupCodes} />
    </>
  );
}
