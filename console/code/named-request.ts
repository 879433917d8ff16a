import type { ApiRequest } from '../client/request.ts';

export interface NamedRequest {
  /** What it does: 'Retrieve payment'. */
  readonly label: string;
  readonly request: ApiRequest;
}
