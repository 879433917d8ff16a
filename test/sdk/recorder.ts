/** A request that the client has sent. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string | undefined;
}

/** The platform's fetch, which records each request. */
export function recorder(): { readonly fetch: typeof fetch; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  return {
    sent,
    fetch: (input, init) => {
      const { pathname, searchParams } = new URL(String(input));
      sent.push({
        method: init?.method ?? 'GET',
        path: pathname,
        query: searchParams,
        headers: new Headers(init?.headers),
        body: typeof init?.body === 'string' ? init.body : undefined,
      });
      return fetch(input, init);
    },
  };
}
