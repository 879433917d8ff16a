import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionEnded, useSetSession } from '../../frame/session.tsx';
import type { Person, Session } from '../../generated/shapes.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { CodeStep, PasswordStep } from './sign-in-form.tsx';

export interface SessionEndedProps {
  /** The person who was signed in. */
  readonly person: Person;
  readonly onClose: () => void;
}

/** Signs in over the page, which therefore retains what the person has typed. */
export default function SessionEnded({ person, onClose }: SessionEndedProps) {
  const [needsCode, setNeedsCode] = useState(false);
  const setSession = useSetSession();
  const client = useQueryClient();
  const enter = (session: Session) => {
    if (session.status === 'two_factor_required') return setNeedsCode(true);
    // Another person must not see the page of this one.
    if (session.person?.id !== person.id) return location.assign('/console/');
    setSession(session);
    void client.invalidateQueries();
  };
  return (
    <Dialog isOpen onOpenChange={onClose} size="small" title="Sign in" description={sessionEnded}>
      {needsCode ? <CodeStep onDone={enter} /> : <PasswordStep email={person.email} onDone={enter} />}
    </Dialog>
  );
}
