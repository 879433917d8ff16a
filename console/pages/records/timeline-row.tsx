import { Activity, BookOpen, ChevronRight, Landmark, type LucideIcon, ScrollText, Send } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import type { TimelineItem } from '../../generated/shapes.ts';
import { Anchor, IdLink } from '../../parts/anchor.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { HttpStatus, StatusBadge } from '../../parts/status-badge.tsx';
import { classes, pluralize, sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { Postings, postingsOf } from './postings.tsx';

const kindIcons: Readonly<Record<Exclude<TimelineItem['kind'], 'move'>, readonly [LucideIcon, string]>> = {
  request: [ScrollText, 'Request'],
  provider_event: [Landmark, 'Provider event'],
  ledger_entry: [BookOpen, 'Ledger entry'],
  event: [Activity, 'Event'],
  delivery: [Send, 'Delivery'],
};

/** One item below a transition. Its content is rendered only when it is expanded. */
export function TimelineRow({ item }: { readonly item: TimelineItem }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if (item.kind === 'move') return null;
  const [Icon, kind] = kindIcons[item.kind];
  return (
    <div className="border-t">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-9 w-full items-center gap-2 rounded-sm py-1 text-left hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          size={14}
          className={classes('shrink-0 text-faint transition-transform', isOpen && 'rotate-90')}
        />
        <Icon aria-hidden size={15} className="shrink-0 text-muted" />
        <span className="sr-only">{kind}: </span>
        <span className="min-w-0 flex-1 truncate text-sm">{titleOf(item)}</span>
        <OutcomeBadge item={item} />
      </button>
      <div id={id}>
        {isOpen ? <div className="flex flex-col gap-3 pt-1 pb-3 pl-[1.375rem]">{contentOf(item)}</div> : null}
      </div>
    </div>
  );
}

function titleOf({ kind, title, data }: TimelineItem): string {
  if (kind === 'ledger_entry') return sentenceCase(title);
  if (kind === 'provider_event' && typeof data.provider === 'string') return `${data.provider}: ${title}`;
  return title;
}

/** The outcome, at the end of the line. */
function OutcomeBadge({ item: { kind, data } }: { readonly item: TimelineItem }) {
  if (kind === 'delivery' && typeof data.status === 'string') return <StatusBadge status={data.status} />;
  if (kind === 'provider_event' && typeof data.outcome === 'string')
    return <StatusBadge status={data.outcome} />;
  if (kind === 'request' && typeof data.httpStatus === 'number')
    return <HttpStatus status={data.httpStatus} />;
  return null;
}

function contentOf(item: TimelineItem): ReactNode {
  const { kind, id, at, data } = item;
  switch (kind) {
    case 'ledger_entry':
      return (
        <>
          <Postings postings={postingsOf(data.postings)} />
          <Facts
            items={[
              ['Entry', <IdLink key="id" id={id} />],
              ['Posted', <Time key="at" at={at} show="full" />],
            ]}
          />
        </>
      );
    case 'provider_event':
      return (
        <>
          <Facts
            items={[
              ['Provider', text(data.provider)],
              ['Transaction', mono(data.providerTransactionId)],
              ['Event at the provider', mono(data.providerEventId)],
              ['Action', text(data.action)],
              ['Received', <Time key="at" at={at} show="full" />],
            ]}
          />
          <JsonView value={data.payload} title="Payload as the provider sent it" />
        </>
      );
    case 'event':
      return (
        <Facts
          items={[
            ['Event', <IdLink key="id" id={id} />],
            ['Type', mono(data.type)],
            ['Sequence', text(data.sequence)],
            ['Created', <Time key="at" at={at} show="full" />],
          ]}
        />
      );
    case 'delivery':
      return (
        <Facts
          items={[
            ['Delivery', <IdLink key="id" id={id} />],
            [
              'Endpoint',
              typeof data.webhookId === 'string' ? <IdLink key="webhook" id={data.webhookId} /> : null,
            ],
            [
              'URL',
              <span key="url" className="break-all">
                {text(data.url)}
              </span>,
            ],
            ['Attempts', typeof data.attempts === 'number' ? pluralize(data.attempts, 'attempt') : null],
            [
              'Last response',
              typeof data.lastResponseStatus === 'number' ? (
                <HttpStatus key="last" status={data.lastResponseStatus} />
              ) : (
                text(data.lastError)
              ),
            ],
            [
              'Changed',
              <Time
                key="updated"
                at={typeof data.updatedAt === 'string' ? data.updatedAt : at}
                show="full"
              />,
            ],
          ]}
        />
      );
    default:
      return (
        <>
          <Facts
            items={[
              ['Request', <IdLink key="id" id={id} />],
              ['Duration', typeof data.durationMs === 'number' ? `${data.durationMs} ms` : null],
              ['Error', mono(data.errorCode)],
              ['Received', <Time key="at" at={text(data.receivedAt) ?? at} kind="wall" show="full" />],
            ]}
          />
          <Anchor to={`requests/${id}`}>View request and response bodies</Anchor>
        </>
      );
  }
}

type Items = readonly (readonly [name: string, value: ReactNode])[];

/** Name-value pairs; unknown values are omitted. */
function Facts({ items }: { readonly items: Items }) {
  return <KeyValue items={items.filter(([, value]) => value !== null && value !== undefined)} />;
}

function text(value: unknown): string | null {
  return value === null || value === undefined || value === '' ? null : String(value);
}

function mono(value: unknown): ReactNode {
  const content = text(value);
  return content === null ? null : <span className="font-mono text-[0.75rem] break-all">{content}</span>;
}
