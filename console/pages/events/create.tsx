import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCapabilities } from '../../client/currencies.ts';
import { useWrite } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import type { Capabilities, EventRecord } from '../../client/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, isAbout, Select, Textarea } from '../../parts/field.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useToast } from '../../parts/toast.tsx';
import { parseData } from './json.ts';

const firstType = 'payment.captured';

export function CreateEvent({ onClose }: { readonly onClose: () => void }) {
  const events = useCapabilities()?.events;
  if (events !== undefined) return <Form events={events} onClose={onClose} />;
  return (
    <Dialog isOpen onOpenChange={onClose} title="Create event">
      <Skeleton className="h-64 w-full" />
    </Dialog>
  );
}

interface FormProps {
  readonly events: Capabilities['events'];
  readonly onClose: () => void;
}

function Form({ events, onClose }: FormProps) {
  const { orgId } = useScope();
  const { toast } = useToast();
  const navigate = useNavigate();
  const [type, setType] = useState(() => (events.some((one) => one.type === firstType) ? firstType : ''));
  const [text, setText] = useState(() => exampleOf(events, firstType));
  const [error, setError] = useState<string>();
  const create = useWrite<EventRecord>('app/developer_api_webhook_events', {
    onDone: ({ id }) => {
      toast('Event created');
      void navigate({ to: `/${orgId}/events/${id}` });
    },
  });
  const choose = (next: string) => {
    // What was typed stays; an untouched example gives way to the next one.
    if (text === exampleOf(events, type)) setText(exampleOf(events, next));
    setType(next);
    setError(undefined);
  };
  const submit = () => {
    const parsed = parseData(text);
    setError(parsed.ok ? undefined : parsed.words);
    if (parsed.ok) void create.write({ type, data: parsed.value });
  };
  const isSaid = isAbout(create.problem, 'type') || isAbout(create.problem, 'data');
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      size="large"
      title="Create event"
      description="It is sent to every webhook that wants its type, as if it had happened. No record changes."
      submitLabel="Create event"
      onSubmit={submit}
      isBusy={create.isBusy}
      isSubmitDisabled={type === ''}
      problem={isSaid ? null : create.problem}
    >
      <Field
        label="Type"
        problem={create.problem}
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
        problem={create.problem}
        param="data"
        error={error}
        hint="Sent as it is. It begins as the example of the type."
      >
        <Textarea
          rows={14}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          className="font-mono text-[0.75rem] leading-[1.25rem]"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setError(undefined);
          }}
          onBlur={() => {
            const parsed = parseData(text);
            setError(parsed.ok ? undefined : parsed.words);
          }}
        />
      </Field>
    </Dialog>
  );
}

/** The catalogue shows whole events; by hand only their data is given. */
function exampleOf(events: Capabilities['events'], type: string): string {
  const example = events.find((one) => one.type === type)?.example;
  return JSON.stringify(example?.data ?? {}, null, 2);
}
