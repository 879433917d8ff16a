import type { ReactNode } from 'react';
import { useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { type Read, useRead } from '../../client/queries.ts';
import { useRecordId } from '../../frame/params.ts';
import { Button } from '../../parts/button.tsx';
import { fieldsOfAction, type Resource } from './action-draft.ts';
import type { ActionMoney } from './action-form.tsx';
import { Actions } from './actions.tsx';
import { DiagramDialog } from './diagram.tsx';
import { RecordColumns, RecordPage } from './record-page.tsx';
import { statefulRequests } from './record-requests.ts';
import { Stepper } from './stepper.tsx';
import { Timeline, useTimeline } from './timeline.tsx';
import { pathOf } from './timeline-groups.ts';

interface StatefulRecord {
  readonly object: string;
  readonly id: string;
  readonly status: string;
  readonly allowedActions: readonly string[];
}

export interface StatefulPageProps<T extends StatefulRecord> {
  readonly resource: Resource;
  /** 'Payment'; the list page is its plural. */
  readonly name: string;
  readonly heading: (record: T) => ReactNode;
  /** One line below the heading. */
  readonly meta?: (record: T) => ReactNode;
  /** What the person should know before anything else. */
  readonly notice?: (record: T) => ReactNode;
  readonly money: (record: T) => ActionMoney;
  readonly hasBeneficiary?: (record: T) => boolean;
  /** Menu items besides the actions. */
  readonly menu?: (record: T) => ReactNode;
  readonly aside: (record: T) => ReactNode;
}

/** The page of a record with a state machine: next action, progress, timeline, and facts in a side column. */
export function StatefulPage<T extends StatefulRecord>(props: StatefulPageProps<T>) {
  const { resource, name, heading, meta, notice, money, hasBeneficiary, menu, aside } = props;
  const id = useRecordId();
  const plural = `${resource}s`;
  const read: Read<T> = useRead<T>(`app/developer_api_${plural}/${id}`);
  const timeline = useTimeline(id);
  const rules = useCapabilities()?.resources ?? [];
  const requestsOf = (record: T) =>
    statefulRequests({
      resource,
      id: record.id,
      canAdvance: record.allowedActions.length > 0 && timeline.data?.nextAction !== null,
      actions: record.allowedActions.filter((action) => fieldsOfAction(rules, resource, action).length === 0),
    });
  return (
    <RecordPage
      id={id}
      name={name}
      parent={{ to: plural, label: `${name}s` }}
      read={read}
      heading={(record) => <span className="text-[1.75rem] leading-9">{heading(record)}</span>}
      {...(meta === undefined ? {} : { description: meta })}
      requests={requestsOf}
      actions={(record) => (
        <Actions
          resource={resource}
          id={record.id}
          status={record.status}
          allowed={record.allowedActions}
          next={timeline.data?.nextAction}
          money={money(record)}
          hasBeneficiary={hasBeneficiary?.(record) ?? false}
          requests={requestsOf(record)}
          more={menu?.(record)}
        />
      )}
    >
      {(record) => (
        <>
          {notice?.(record)}
          <Progress resource={resource} record={record} timeline={timeline} />
          <RecordColumns aside={aside(record)}>
            <Timeline timeline={timeline} />
          </RecordColumns>
        </>
      )}
    </RecordPage>
  );
}

interface ProgressProps {
  readonly resource: Resource;
  readonly record: StatefulRecord;
  readonly timeline: ReturnType<typeof useTimeline>;
}

function Progress({ resource, record, timeline }: ProgressProps) {
  const [isOpen, setOpen] = useState(false);
  const items = timeline.data?.items ?? [];
  return (
    <section
      aria-label="Status"
      className="mb-5 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border bg-surface px-2 py-3"
    >
      <div className="min-w-0 flex-1 max-sm:basis-full">
        <Stepper resource={resource} status={record.status} items={items} />
      </div>
      <Button size="small" variant="ghost" className="max-sm:ml-1" onClick={() => setOpen(true)}>
        View all states
      </Button>
      {isOpen ? (
        <DiagramDialog
          resource={resource}
          status={record.status}
          allowed={record.allowedActions}
          path={pathOf(items)}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </section>
  );
}
