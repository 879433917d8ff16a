import { findCurrency } from '../../kernel/currency.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Prepare } from '../../kernel/prepare.ts';
import type { CreateApplication, UpdateApplication } from './machine.ts';
import { countApplications } from './store.ts';

/** Counts the existing applications. */
export const prepareCreateApplication: Prepare<
  Omit<CreateApplication, 'others'>,
  CreateApplication,
  undefined
> = async ({ requested, request, submit, submitRefusal }, { reader, mutex }) => {
  const refusal = refuseRates(requested.settings.fxRates);
  if (refusal) return submitRefusal(refusal);
  const { orgId } = request.context;
  return mutex.run(`applications ${orgId}`, async () =>
    submit({ ...requested, others: await countApplications(reader, orgId) }),
  );
};

/** Refuses exchange rates of unknown currencies. */
export const prepareUpdateApplication: Prepare<UpdateApplication, UpdateApplication, undefined> = async ({
  requested,
  submit,
  submitRefusal,
}) => {
  const refusal = refuseRates(requested.patch.fxRates);
  return refusal ? submitRefusal(refusal) : submit(requested);
};

function refuseRates(rates: Readonly<Record<string, string>> = {}): Refusal | undefined {
  const unknown = Object.keys(rates)
    .flatMap((pair) => pair.split('/'))
    .find((code) => !findCurrency(code));
  if (unknown === undefined) return undefined;
  return refuse('unsupported_currency', {
    message: `"${unknown}" is not a supported currency.`,
    param: '/fx/rates',
  });
}
