import { SignOutButton, useSession } from '../../frame/session.tsx';
import { StandalonePage } from '../../frame/standalone-page.tsx';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';

export interface TwoFactorRequiredProps {
  readonly orgId: string;
  readonly name: string;
}

/** In place of every page of an organization that requires a second factor, for a person without one. */
export function TwoFactorRequired({ orgId, name }: TwoFactorRequiredProps) {
  const { organizations } = useSession();
  const others = organizations.filter(({ id, requiresTwoFactor }) => id !== orgId && !requiresTwoFactor);
  return (
    <StandalonePage
      title="Two-factor sign-in required"
      footer={others.map(({ id, name: other }) => (
        <span key={id} className="mx-2 inline-block">
          <Anchor to={`/${id}`} search={{ app: undefined }}>
            Open {other}
          </Anchor>
        </span>
      ))}
    >
      <div className="flex flex-col gap-4">
        <p>
          {name} requires two-factor sign-in of its members. Turn it on in your account; then you have access
          again.
        </p>
        <Anchor to="/account" className={buttonClass('primary')}>
          Set up two-factor sign-in
        </Anchor>
        <SignOutButton />
      </div>
    </StandalonePage>
  );
}
