import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { useFilters, useOpenParam } from '../client/filters.ts';
import { type List, useRead } from '../client/queries.ts';
import { useScope } from '../client/scope.ts';
import { useAllowed } from '../frame/session.tsx';
import type { Application, ListedApiKey } from '../generated/shapes.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ExportRows } from '../parts/export-button.tsx';
import { Switch } from '../parts/field.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { CreateKey } from './keys/create.tsx';
import { EditKey } from './keys/edit.tsx';
import { RevokeKey } from './keys/revoke.tsx';
import { RotateKey } from './keys/rotate.tsx';
import { type KeyAction, KeyTable } from './keys/table.tsx';

const dialogs = { edit: EditKey, rotate: RotateKey, revoke: RevokeKey };

/** The application's API keys. A key itself is shown once, in the dialog that creates it. */
export function Keys() {
  const list = useRead<List<ListedApiKey>>('app/api_keys');
  const [filters, setFilters] = useFilters('revoked');
  const [isCreating, setCreating] = useOpenParam('create');
  const [chosen, setChosen] = useState<{ action: KeyAction; apiKey: ListedApiKey } | null>(null);
  const mayWrite = useAllowed('developer');
  const isArchived = useIsArchived();
  const mayCreate = mayWrite && !isArchived;
  const all = list.data?.data ?? [];
  const revoked = all.filter(({ status }) => status === 'revoked').length;
  const rows = filters.revoked === '1' ? all : all.filter(({ status }) => status !== 'revoked');
  const isEmpty = list.data !== undefined && rows.length === 0;
  const create = mayCreate ? (
    <Button variant="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create key
    </Button>
  ) : undefined;
  const Chosen = chosen === null ? null : dialogs[chosen.action];
  return (
    <>
      <PageHeader
        title="API keys"
        description={descriptionOf(mayWrite, isArchived)}
        actions={isEmpty ? undefined : create}
      />
      {isEmpty && revoked === 0 ? null : (
        <div className="mb-3 flex min-h-7 items-center justify-end gap-4">
          {revoked > 0 ? (
            <Switch
              label={`Show ${revoked} revoked`}
              isOn={filters.revoked === '1'}
              onChange={(isOn) => setFilters({ revoked: isOn ? '1' : undefined })}
            />
          ) : null}
          {rows.length === 0 ? null : <ExportRows rows={rows} name="api-keys" />}
        </div>
      )}
      <KeyTable
        list={list}
        rows={rows}
        query={filters.revoked ?? ''}
        onAction={mayWrite ? (action, apiKey) => setChosen({ action, apiKey }) : undefined}
        empty={
          <EmptyState
            icon={<KeyRound aria-hidden size={20} />}
            title={revoked > 0 ? 'No active keys' : 'No API keys yet'}
            action={create}
          >
            A key lets your code create payments, transfers and webhooks in this application. It is shown
            once, when it is created.
          </EmptyState>
        }
      />
      {isCreating && mayCreate ? <CreateKey onClose={() => setCreating(false)} /> : null}
      {chosen && Chosen ? <Chosen apiKey={chosen.apiKey} onClose={() => setChosen(null)} /> : null}
    </>
  );
}

function descriptionOf(mayWrite: boolean, isArchived: boolean): string {
  if (isArchived) return 'API keys of an archived application do not work until it is restored.';
  return mayWrite
    ? 'Use one key per service, with the fewest scopes it needs.'
    : 'Your code calls the API with a key. Managing keys requires the developer role.';
}

/** Reads the application list that the layout has already loaded. */
function useIsArchived(): boolean {
  const { appId } = useScope();
  const applications = useRead<List<Application>>('org/applications', { limit: 100 }).data?.data ?? [];
  return applications.some(({ id, status }) => id === appId && status === 'archived');
}
