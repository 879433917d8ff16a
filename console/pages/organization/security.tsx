import { useQueryClient } from '@tanstack/react-query';
import { keys, useWrite } from '../../client/queries.ts';
import { useAllowed, usePerson } from '../../frame/session.tsx';
import type { Organization } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Card } from '../../parts/card.tsx';
import { Switch } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { useToast } from '../../parts/toast.tsx';

/** Whether members need a second factor. */
export function SecurityCard({ isRequired }: { readonly isRequired: boolean }) {
  const isOwner = useAllowed('owner');
  const { twoFactor } = usePerson();
  const { toast } = useToast();
  const client = useQueryClient();
  const require = useWrite<Organization>('org/organization/two_factor', {
    onDone: ({ requiresTwoFactor }) => {
      toast(requiresTwoFactor ? 'Two-factor sign-in is required' : 'Two-factor sign-in is optional');
      void client.invalidateQueries({ queryKey: keys.session });
    },
  });
  return (
    <Card title="Security">
      <div className="flex flex-col gap-3">
        <Switch
          label="Require two-factor sign-in"
          hint="Members without it have no access to this organization until they turn it on. API keys are not affected."
          isOn={isRequired}
          disabled={!isOwner || require.isBusy || (!twoFactor && !isRequired)}
          onChange={(isOn) => void require.write({ isRequired: isOn })}
        />
        {isOwner && !twoFactor ? (
          <p className="text-sm text-muted">
            Turn on two-factor sign-in in <Anchor to="/account">your account</Anchor> first.
          </p>
        ) : null}
        {isOwner ? null : <p className="text-sm text-muted">Only an owner can change this.</p>}
        {require.problem ? <ProblemBanner problem={require.problem} /> : null}
      </div>
    </Card>
  );
}
