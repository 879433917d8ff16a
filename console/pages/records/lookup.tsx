import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { type FormEvent, useEffect, useState } from 'react';
import { useScope } from '../../client/scope.ts';
import { pageOf } from '../../parts/anchor.tsx';

export interface LookupProps {
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
  readonly placeholder: string;
}

const idPattern = /^[a-z]{3}_[0-9a-z]{26}$/;

/** A complete id opens its record; any other text starts a search. */
export function Lookup({ value, onChange, placeholder }: LookupProps) {
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  const navigate = useNavigate();
  const { orgId } = useScope();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const query = text.trim();
    const page = idPattern.test(query) ? pageOf(query) : undefined;
    if (page === undefined) onChange(query);
    else void navigate({ to: `/${orgId}/${page}` });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-0.5 max-sm:basis-full">
      <label htmlFor="lookup" className="text-xs font-medium text-muted">
        Search
      </label>
      <div className="relative">
        <Search
          aria-hidden
          size={15}
          className="pointer-events-none absolute inset-y-0 left-2.5 my-auto text-muted"
        />
        <input
          id="lookup"
          type="search"
          enterKeyHint="search"
          autoComplete="off"
          maxLength={100}
          placeholder={placeholder}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            // The browser's clear button in a search box empties it without Enter.
            if (event.currentTarget.value === '' && value !== undefined) onChange('');
          }}
          className="control pl-8 sm:w-64"
        />
      </div>
    </form>
  );
}
