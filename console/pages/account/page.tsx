import { ThemeSwitch } from '../../frame/header.tsx';
import { useSession } from '../../frame/session.tsx';
import { Brand } from '../../frame/sidebar.tsx';
import { Anchor } from '../../parts/anchor.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Devices } from './devices.tsx';
import { History } from './history.tsx';
import { PasskeyCard } from './passkeys.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { TwoFactorCard } from './two-factor.tsx';

/** The person's account, outside every organization. */
export function Account() {
  const { organizations } = useSession();
  const first = organizations[0];
  return (
    <>
      <header className="flex h-14 items-center justify-between border-b px-2 sm:px-6">
        <Brand />
        <ThemeSwitch />
      </header>
      <main className="mx-auto max-w-[46rem] px-4 pt-6 pb-20 sm:px-8">
        <PageHeader
          title="Account"
          description="Your profile, sign-in methods and sessions."
          actions={
            <Anchor to={first ? `/${first.id}` : '/welcome'} className={buttonClass()}>
              Back to the console
            </Anchor>
          }
        />
        <div className="flex flex-col gap-5">
          <Profile />
          <Password />
          <TwoFactorCard />
          <PasskeyCard />
          <Devices />
          <History />
        </div>
      </main>
    </>
  );
}
