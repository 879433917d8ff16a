import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';

/** The console path requested before signing in. It is appended to `/console`, so it cannot leave the console. */
export function useNext(): string | undefined {
  const { next }: { next?: string } = useSearch({ strict: false });
  return next?.startsWith('/') ? next : undefined;
}

/** For a signed-in person: redirects to `?next=`, else to the first organization. */
export function RedirectToNext() {
  const next = useNext();
  const router = useRouter();
  useEffect(() => {
    router.history.replace(`/console${next ?? '/'}`);
  }, [router, next]);
  return null;
}
