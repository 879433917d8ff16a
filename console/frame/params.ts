import { useParams } from '@tanstack/react-router';

/** The id in a detail page's path. */
export function useRecordId(): string {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false });
  return params.id ?? '';
}

/** The token in the path of an invitation or reset link. */
export function useToken(): string {
  const params: Readonly<Record<string, string | undefined>> = useParams({ strict: false });
  return params.token ?? '';
}
