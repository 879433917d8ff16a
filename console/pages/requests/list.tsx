import { useFilters } from '../../client/filters.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { AllRequests } from './all.tsx';
import { Errors } from './errors.tsx';

export function RequestList() {
  const [{ tab = 'all' }, setFilters] = useFilters('tab');
  return (
    <>
      <PageHeader
        title="Requests"
        description="API requests and their responses. Secrets and card numbers are redacted before anything is stored."
      />
      <Tabs
        label="Requests"
        value={tab === 'errors' ? tab : 'all'}
        onChange={(next) => setFilters({ tab: next === 'all' ? '' : next })}
        tabs={[
          { value: 'all', label: 'All requests', content: <AllRequests /> },
          { value: 'errors', label: 'Errors', content: <Errors /> },
        ]}
      />
    </>
  );
}
