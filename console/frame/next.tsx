import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';

/** The path inside the console that somebody wanted before signing in. It is put behind `/console`, so it leads nowhere else. */
export function useNext(): string | undefined {
  const { next }: { next?: string } = useSearch({ strict: false });
  return next?.startsWith('/') ? next : undefined;
}

/** Shown to a person who has signed in: goes on to `?next=`, else to the first organization. */
export function GoOn() {
  const next = useNext();
  const router = useRouter();
  useEffect(() => {
    router.history.replace(`/console${next ?? '/'}`);
  }, [router, next]);
  return null;
}
