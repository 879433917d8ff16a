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
        description="What was asked over the API and what was answered. Secrets and card numbers are taken out before anything is kept."
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
