import { Ellipsis, Pencil, RefreshCw, ShieldX } from 'lucide-react';
import type { ReactNode } from 'react';
import type { BulkAction } from '../../client/bulk.ts';
import type { List, Read } from '../../client/queries.ts';
import { useSelection } from '../../client/selection.ts';
import type { ListedApiKey } from '../../generated/shapes.ts';
import { BulkBar } from '../../parts/bulk-bar.tsx';
import { IconButton } from '../../parts/button.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../parts/menu.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { ScopeSummary } from './scopes.tsx';

export type KeyAction = 'edit' | 'rotate' | 'revoke';

export interface KeyTableProps {
  readonly list: Read<List<ListedApiKey>>;
  readonly rows: readonly ListedApiKey[];
  /** Identifies the filter. */
  readonly query: string;
  readonly empty: ReactNode;
  /** Omitted for viewers. */
  readonly onAction?: ((action: KeyAction, apiKey: ListedApiKey) => void) | undefined;
}

export function KeyTable({ list, rows, query, empty, onAction }: KeyTableProps) {
  const columns = onAction ? [...facts, actionsOf(onAction)] : facts;
  const selection = useSelection(query, rows, ({ name }) => name);
  return (
    <>
      <Table
        caption="API keys of the application"
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        isLoading={list.isLoading}
        isRefreshing={list.isRefreshing}
        problem={list.problem}
        empty={empty}
        selection={onAction ? selection : undefined}
      />
      {onAction ? <BulkBar selection={selection} noun="API key" actions={bulkActions} /> : null}
    </>
  );
}

const bulkActions: readonly BulkAction<ListedApiKey>[] = [
  {
    label: 'Revoke',
    done: 'revoked',
    isDanger: true,
    effect: 'Requests with these keys are rejected from now on. A revoked key cannot be restored.',
    isAllowed: ({ status }) => status !== 'revoked',
    request: ({ id }) => ({ path: `app/api_keys/${id}/revoke`, body: {} }),
  },
];

const facts: readonly Column<ListedApiKey>[] = [
  {
    header: 'Name',
    isWide: true,
    cell: ({ name, lastFour, lastUsedAt }) => (
      <>
        <span className="block truncate font-medium" title={name}>
          {name}
        </span>
        <span className="block truncate text-xs text-muted">
          <span className="font-mono">…{lastFour}</span>
          <span className="sm:hidden">
            {lastUsedAt === null ? (
              ' · never used'
            ) : (
              <>
                {' '}
                · used <Time at={lastUsedAt} kind="wall" show="relative" />
              </>
            )}
          </span>
        </span>
      </>
    ),
  },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    header: 'Scopes',
    isMinor: true,
    cell: ({ scopes, mayReset }) => (
      <span className="block w-max max-w-56 whitespace-normal">
        <ScopeSummary scopes={scopes} />
        {mayReset ? <span className="block text-xs text-muted">May reset the organization</span> : null}
      </span>
    ),
  },
  {
    header: 'Last used',
    isMinor: true,
    cell: ({ lastUsedAt, lastUsedIp }) => (
      <>
        <Time at={lastUsedAt} kind="wall" show="relative" empty="Never" />
        {lastUsedIp ? <span className="block font-mono text-xs text-muted">{lastUsedIp}</span> : null}
      </>
    ),
  },
  {
    header: 'Expires',
    isMinor: true,
    cell: ({ expiresAt }) => <Time at={expiresAt} kind="wall" mayBeAhead empty="Never" />,
  },
  { header: 'Created', isExtra: true, cell: ({ createdAt }) => <Time at={createdAt} kind="wall" /> },
];

function actionsOf(onAction: NonNullable<KeyTableProps['onAction']>): Column<ListedApiKey> {
  return {
    header: 'Actions',
    align: 'right',
    cell: (apiKey) =>
      apiKey.status === 'revoked' ? null : (
        <Menu
          trigger={
            <IconButton
              label={`Actions for ${apiKey.name}`}
              icon={<Ellipsis aria-hidden size={16} />}
              size="small"
            />
          }
        >
          <MenuItem icon={<Pencil aria-hidden size={15} />} onSelect={() => onAction('edit', apiKey)}>
            Edit…
          </MenuItem>
          {apiKey.status === 'active' ? (
            <MenuItem icon={<RefreshCw aria-hidden size={15} />} onSelect={() => onAction('rotate', apiKey)}>
              Rotate…
            </MenuItem>
          ) : null}
          <MenuSeparator />
          <MenuItem
            isDanger
            icon={<ShieldX aria-hidden size={15} />}
            onSelect={() => onAction('revoke', apiKey)}
          >
            Revoke…
          </MenuItem>
        </Menu>
      ),
  };
}
