import type { RequestContext } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { noApplication } from '../../kernel/ids.ts';
import { isCidr } from '../../kernel/networks.ts';
import type { Ports, Prepare } from '../../kernel/prepare.ts';
import type { CreateApiKey, RotateApiKey, UpdateApiKey } from './machine.ts';
import { countActiveKeys } from './store.ts';

type NewKey = Pick<CreateApiKey, 'created' | 'others'>;

/** Generates the key and counts the active keys. */
export const prepareCreateApiKey: Prepare<Omit<CreateApiKey, keyof NewKey>, CreateApiKey, undefined> = async (
  { requested, request, submit, submitRefusal },
  ports,
) => {
  const refusal = refuseNetworks(requested.settings.allowedCidrs);
  if (refusal) return submitRefusal(refusal);
  return withNewKey(request.context, ports, (newKey) => submit({ ...requested, ...newKey }));
};

export const prepareRotateApiKey: Prepare<Omit<RotateApiKey, keyof NewKey>, RotateApiKey, undefined> = (
  { requested, request, submit },
  ports,
) => withNewKey(request.context, ports, (newKey) => submit({ ...requested, ...newKey }));

/** Refuses networks that cannot be parsed. */
export const prepareUpdateApiKey: Prepare<UpdateApiKey, UpdateApiKey, undefined> = async ({
  requested,
  submit,
  submitRefusal,
}) => {
  const refusal = refuseNetworks(requested.patch.allowedCidrs);
  return refusal ? submitRefusal(refusal) : submit(requested);
};

/** Serialized per application, so that each creation counts the keys before it. */
function withNewKey<Result>(
  { orgId, appId }: RequestContext,
  { reader, wallClock, secrets, mutex }: Ports,
  submit: (newKey: NewKey) => PromiseLike<Result>,
): PromiseLike<Result> {
  return mutex.run(`api keys ${appId ?? ''}`, async () => {
    const others = await countActiveKeys(reader, orgId, appId ?? noApplication, wallClock());
    return submit({ created: secrets.newApiKey(), others });
  });
}

function refuseNetworks(cidrs: readonly string[] = []): Refusal | undefined {
  const wrong = cidrs.findIndex((cidr) => !isCidr(cidr));
  if (wrong === -1) return undefined;
  return refuse('invalid_request', {
    message: `"${cidrs[wrong]}" is neither an IP address nor a network such as 10.0.0.0/8.`,
    param: `/allowedCidrs/${wrong}`,
  });
}
