import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { type ApiProblem, apiUrl, asProblem, problemFrom } from '../../client/request.ts';
import { useScope } from '../../client/scope.ts';
import { useAllowed, useMayCreateOrganization } from '../../frame/session.tsx';
import type { Fork } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Input } from '../../parts/field.tsx';
import { useToast } from '../../parts/toast.tsx';
import { RadioCards } from '../radio-cards.tsx';
import { ConfirmNameField } from './confirm-name.tsx';
import { CopyCreated, secretsOf } from './copy-created.tsx';

export interface RestoreSnapshotProps {
  /** The name of the current organization. */
  readonly name: string;
  readonly onClose: () => void;
}

type Into = 'new' | 'current';

/** Uploads a snapshot file: as a new organization, or in place of the records and settings of this one. */
export function RestoreSnapshot({ name, onClose }: RestoreSnapshotProps) {
  const [into, setInto] = useState<Into>(useMayCreateOrganization() ? 'new' : 'current');
  const [file, setFile] = useState<File | null>(null);
  const [newName, setNewName] = useState(`${name} restored`);
  const [typed, setTyped] = useState('');
  const { toast } = useToast();
  const limits = useLimits();
  const isNew = into === 'new';
  const restore = useRestore((restored) => {
    if (isNew || secretsOf(restored).length > 0) return;
    toast(`${name} restored`);
    onClose();
  });
  const { restored, problem } = restore;
  if (restored && (isNew || secretsOf(restored).length > 0))
    return <CopyCreated copy={restored} title="Snapshot restored" onClose={onClose} />;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title="Restore snapshot"
      submitLabel={isNew ? 'Restore' : 'Replace all records'}
      onSubmit={() => file && restore.send({ file, into, name: isNew ? newName.trim() : typed })}
      isBusy={restore.isBusy}
      isDanger={!isNew}
      problem={problem}
    >
      <Field
        label="Snapshot file"
        param={null}
        hint="A .jsonl file that a snapshot download has created."
        missing={file === null ? 'Choose a file.' : undefined}
      >
        <Input
          type="file"
          accept=".jsonl"
          onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
        />
      </Field>
      <Target into={into} onChange={setInto} />
      {isNew ? (
        <Field
          label="Name of the new organization"
          missing={newName.trim() === '' ? 'Enter a name.' : undefined}
          param="name"
        >
          <Input
            required
            maxLength={limits.nameLengthMax}
            autoComplete="off"
            value={newName}
            onChange={(event) => setNewName(event.currentTarget.value)}
          />
        </Field>
      ) : (
        <ConfirmNameField name={name} value={typed} onChange={setTyped} />
      )}
    </Dialog>
  );
}

function Target({ into, onChange }: { readonly into: Into; readonly onChange: (into: Into) => void }) {
  return (
    <RadioCards
      isLegendHidden
      legend="Restore into"
      param="into"
      value={into}
      onChange={(value) => onChange(value === 'new' ? 'new' : 'current')}
      options={[
        {
          value: 'new',
          label: 'A new organization',
          hint: 'You are its owner. It has new API keys and webhook secrets, and its webhooks are disabled.',
          isDisabled: !useMayCreateOrganization(),
        },
        {
          value: 'current',
          label: 'This organization',
          hint: 'For owners. Deletes its records, applications and webhooks and restores those of the file, which must be a snapshot of it. Members, API keys and the audit trail remain.',
          isDisabled: !useAllowed('owner'),
        },
      ]}
    />
  );
}

interface Upload {
  readonly file: File;
  readonly into: Into;
  /** The name of the new organization, or the typed name of this one. */
  readonly name: string;
}

/** The response contains keys, so only the state of the component holds it, not the mutation cache. */
function useRestore(onDone: (restored: Fork) => void) {
  const scope = useScope();
  const client = useQueryClient();
  const [restored, setRestored] = useState<Fork>();
  const mutation = useMutation<void, ApiProblem, Upload>({
    mutationFn: async ({ file, into, name }) => {
      const result = await upload(apiUrl('org/snapshot', scope, { into, name }), file);
      setRestored(result);
      onDone(result);
    },
    // The switcher in the header reads organizations from the session, and all records of this one may have changed.
    onSuccess: () => client.invalidateQueries(),
  });
  return { send: mutation.mutate, isBusy: mutation.isPending, problem: mutation.error, restored };
}

/** Without the timeout of other requests: a large file takes longer. */
async function upload(url: string, file: File): Promise<Fork> {
  try {
    const headers = { 'Content-Type': 'application/jsonl' };
    const response = await fetch(url, { method: 'POST', headers, body: file, credentials: 'same-origin' });
    if (!response.ok) throw await problemFrom(response);
    return (await response.json()) as Fork;
  } catch (thrown) {
    throw asProblem(thrown);
  }
}
