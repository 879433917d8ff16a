import type { ReactNode } from 'react';
import markUrl from '../mark.svg';
import { ThemeSwitch } from './header.tsx';

export interface StandalonePageProps {
  /** Also the window title. */
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  /** Below the card, for example a link to another page. */
  readonly footer?: ReactNode;
}

/** Frame of the pages outside an organization: one centered card. */
export function StandalonePage({ title, description, children, footer }: StandalonePageProps) {
  return (
    <div className="flex min-h-dvh flex-col">
      <title>{`${title} · Sandbank`}</title>
      <header className="flex h-14 items-center justify-between px-4 sm:px-6">
        <span className="flex items-center gap-2.5 text-lg font-semibold tracking-[-0.01em]">
          <img src={markUrl} alt="" width={24} height={24} />
          Sandbank
        </span>
        <ThemeSwitch />
      </header>
      <main className="flex flex-1 flex-col items-center px-4 pt-[6vh] pb-16">
        <div className="w-full max-w-[25rem]">
          <h1 tabIndex={-1} className="text-xl font-semibold tracking-[-0.01em]">
            {title}
          </h1>
          {description === undefined ? null : <div className="mt-1 text-muted">{description}</div>}
          <div className="mt-5 rounded-lg border bg-surface p-5 sm:p-6">{children}</div>
          {footer === undefined ? null : <p className="mt-4 text-center text-muted">{footer}</p>}
        </div>
      </main>
      <footer className="px-4 pb-5 text-center text-sm text-faint">
        A sandbox: no real money moves here.
      </footer>
    </div>
  );
}
