import { useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { useOpenCreated } from '../../client/filters.ts';
import { useWrite } from '../../client/queries.ts';
import type { Capabilities, Event } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select, Textarea } from '../../parts/field.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useToast } from '../../parts/toast.tsx';
import { parseData } from './json.ts';

const firstType = 'payment.captured';

export function CreateEvent({ onClose }: { readonly onClose: () => void }) {
  const events = useCapabilities()?.events;
  if (events !== undefined) return <EventForm events={events} onClose={onClose} />;
  return (
    <Dialog isOpen onOpenChange={onClose} title="Create event">
      <Skeleton className="h-64 w-full" />
    </Dialog>
  );
}

interface EventFormProps {
  readonly events: Capabilities['events'];
  readonly onClose: () => void;
}

function EventForm({ events, onClose }: EventFormProps) {
  const { toast } = useToast();
  const openCreated = useOpenCreated();
  const [type, setType] = useState(() => (events.some((one) => one.type === firstType) ? firstType : ''));
  const [text, setText] = useState(() => exampleOf(events, firstType));
  const create = useWrite<Event>('app/developer_api_webhook_events', {
    onDone: ({ id }) => {
      toast('Event created');
      void openCreated(`events/${id}`);
    },
  });
  const choose = (next: string) => {
    // Replace the example only if it is unedited.
    if (text === exampleOf(events, type)) setText(exampleOf(events, next));
    setType(next);
  };
  const parsed = parseData(text);
  const body = parsed.ok && type !== '' ? { type, data: parsed.value } : undefined;
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Create event"
      description="Sends an event to every webhook that subscribes to its type. No record changes."
      submitLabel="Create event"
      onSubmit={() => body && void create.write(body)}
      isBusy={create.isBusy}
      problem={create.problem}
      code={create.request(body)}
    >
      <Field
        label="Type"
        missing={type === '' ? 'Choose a type.' : undefined}
        param="type"
        hint={events.find((one) => one.type === type)?.description}
      >
        <Select
          value={type}
          options={events.map((one) => one.type)}
          onChange={(event) => choose(event.currentTarget.value)}
        />
      </Field>
      <Field
        label="Data"
        param="data"
        missing={parsed.ok ? undefined : parsed.error}
        hint="Sent unchanged. The initial value is the example of the type."
      >
        <Textarea
          rows={14}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          className="font-mono text-[0.75rem] leading-[1.25rem]"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </Field>
    </Dialog>
  );
}

/** The example of an event type. The catalogue contains whole events; the form takes only their data. */
function exampleOf(events: Capabilities['events'], type: string): string {
  const example = events.find((one) => one.type === type)?.example;
  return JSON.stringify(example?.data ?? {}, null, 2);
}
