import type { Resource } from '../../kernel/command.ts';
import { instantToText } from '../../kernel/list.ts';
import { type ApplicationRow, applicationMachine } from './machine.ts';
import { applicationsTable } from './store.ts';

/** Applications come from the seed file; the API shows a key its own through `developer_api_status`. */
export const applicationResource: Resource<ApplicationRow> = {
  name: 'application',
  table: applicationsTable,
  machine: applicationMachine,
  emitsEvents: false,
  present: (row) => ({
    object: 'application',
    sandbox: true,
    status: row.status,
    id: row.id,
    name: row.name,
    fee: { basisPoints: row.feeBasisPoints, fixedAmount: Number(row.feeFixed) },
    provider: row.provider,
    fx: { marginBasisPoints: row.fxMarginBasisPoints, rates: row.fxRates },
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  }),
};
