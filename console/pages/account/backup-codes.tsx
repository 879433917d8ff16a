import { useState } from 'react';
import type { BackupCodes } from '../../generated/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ConfirmPassword } from '../confirm-password.tsx';
import { useSecretWrite } from '../secret.tsx';

/** The backup codes, which only this response shows. */
export function BackupCodeList({ codes }: { readonly codes: readonly string[] }) {
  return (
    <section>
      <div className="flex items-center justify-between">
        <h3 className="text-sm font-medium">Backup codes (shown once)</h3>
        <CopyButton text={codes.join('\n')} what="backup codes" isWide />
      </div>
      <ul className="mt-2 grid grid-cols-2 gap-x-4 gap-y-1 rounded-md border bg-sunken px-3 py-2 font-mono text-sm">
        {codes.map((code) => (
          <li key={code} data-secret>
            {code}
          </li>
        ))}
      </ul>
      <p className="mt-1 text-sm text-muted">Use them when you cannot use the app. Each code works once.</p>
    </section>
  );
}

/** Replaces the backup codes, after the password. */
export function NewBackupCodes({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  const regenerate = useSecretWrite<BackupCodes>('session/two_factor/backup_codes');
  const title = 'New backup codes';
  if (regenerate.response !== undefined)
    return (
      <Dialog
        isOpen
        onOpenChange={onClose}
        title={title}
        footer={
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <BackupCodeList codes={regenerate.response.backupCodes} />
      </Dialog>
    );
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="small"
      title={title}
      description="Your present backup codes stop working."
      submitLabel="Create codes"
      onSubmit={() => void regenerate.write({ password })}
      isBusy={regenerate.isBusy}
      problem={regenerate.problem}
    >
      <ConfirmPassword value={password} onChange={setPassword} />
    </Dialog>
  );
}
