import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useLimits } from '../../client/capabilities.ts';
import { useScope } from '../../client/scope.ts';
import { pageOf } from '../../parts/anchor.tsx';

export interface LookupProps {
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
  readonly placeholder: string;
}

const idPattern = /^[a-z]{3}_[0-9a-z]{26}$/;
const settleMs = 250;

/** Searches while the person types. Enter opens the record of a complete id. */
export function Lookup({ value, onChange, placeholder }: LookupProps) {
  const [text, setText] = useState(value ?? '');
  const navigate = useNavigate();
  const { orgId } = useScope();
  const { searchLengthMax } = useLimits();
  const latest = useRef({ value, onChange });
  latest.current = { value, onChange };
  // The filter may change elsewhere: with Back, or with Clear.
  useEffect(() => setText((typed) => (typed.trim() === (value ?? '') ? typed : (value ?? ''))), [value]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const { value: current, onChange: change } = latest.current;
      if (text.trim() !== (current ?? '')) change(text.trim());
    }, settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const query = text.trim();
    const page = idPattern.test(query) ? pageOf(query) : undefined;
    if (page !== undefined) void navigate({ to: `/${orgId}/${page}` });
    else if (query !== (value ?? '')) onChange(query);
  };
  return (
    <form onSubmit={submit} className="relative max-sm:basis-full">
      <Search
        aria-hidden
        size={15}
        className="pointer-events-none absolute inset-y-0 left-2.5 my-auto text-muted"
      />
      <input
        aria-label="Search"
        type="search"
        enterKeyHint="search"
        autoComplete="off"
        maxLength={searchLengthMax}
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        className="control pl-8 sm:w-[18rem]"
      />
    </form>
  );
}
